import { z } from 'zod';
import { CLAIMERS, READERS } from '../../../domain/moderation/roles.ts';
import { SUBJECT_TYPES } from '../../../domain/moderation/subject.ts';
import { REPLAYED_HEADER } from '../../../platform/http/keyed-call.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { AnyUuid, EmptyBody, GivenUuid, Text, Uuid } from '../../../platform/http/schemas.ts';
import { DECIDE_PROBLEMS, HistoryEvent } from '../decisions/contract.ts';

const params = z.object({ type: z.enum(SUBJECT_TYPES), id: Uuid });

const NewComment = z.strictObject({ text: Text(1, 1000) }).meta({ id: 'CommentRequest' });

const CommentReply = z
  .object({ status: z.literal('commented'), event_id: AnyUuid })
  .meta({ id: 'CommentReply' });

const CommentDeletion = z
  .object({ status: z.literal('deleted'), event_id: AnyUuid })
  .meta({ id: 'CommentDeletion' });

const Comments = z
  .object({ status: z.literal('ok'), comments: z.array(HistoryEvent) })
  .meta({ id: 'Comments' });

const path = '/api/moderation/subjects/:type/:id/comments' as const;

export const commentsContract = defineContract({
  'moderation.comments': {
    method: 'GET',
    path,
    summary: 'The comments of moderators on a note, a record or a member',
    description:
      'Oldest first, without the deleted ones. The history of a note or a record has them too, and ' +
      'the deletions.',
    tag: 'comments',
    access: { roles: READERS },
    params,
    replies: { 200: { description: 'The comments', body: Comments } },
    problems: ['moderator_required', 'not_found'],
  },
  'moderation.comment': {
    method: 'POST',
    path,
    summary: 'Comment on a note, a record or a member, for moderators only',
    description:
      'Only moderators ever see a comment. It is erased with the text of its note, and with the ' +
      "author's account.",
    tag: 'comments',
    access: { roles: CLAIMERS },
    params,
    body: NewComment,
    idempotency: 'optional',
    replies: {
      201: {
        headers: REPLAYED_HEADER,
        location: path,
        description: 'The comment was added',
        body: CommentReply,
      },
    },
    problems: [...DECIDE_PROBLEMS, 'invalid_request'],
  },
  'moderation.delete_comment': {
    method: 'POST',
    path: `${path}/:event_id/delete`,
    summary: 'Delete your own comment; leads can delete any comment',
    description:
      'Erases the text. The history and the audit keep who wrote the comment and who deleted it. A ' +
      'comment that was already erased is `wrong_state`.',
    tag: 'comments',
    access: { roles: CLAIMERS },
    params: params.extend({ event_id: GivenUuid }),
    body: EmptyBody,
    idempotency: 'optional',
    replies: {
      200: {
        headers: REPLAYED_HEADER,
        description: 'The comment was deleted',
        body: CommentDeletion,
      },
    },
    problems: [...DECIDE_PROBLEMS, 'invalid_request'],
  },
});
