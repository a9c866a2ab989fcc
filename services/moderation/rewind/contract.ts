import { z } from 'zod';
import { LEFT_REASONS } from '../../../domain/guestbook/rewind.ts';
import { DECIDED_ACTIONS } from '../../../domain/moderation/decided.ts';
import { LEADS } from '../../../domain/moderation/roles.ts';
import { SUBJECT_TYPES } from '../../../domain/moderation/subject.ts';
import { REPLAYED_HEADER } from '../../../platform/http/keyed-call.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { AnyUuid, Cursor, GivenUuid, NextPage, Sha256 } from '../../../platform/http/schemas.ts';
import { DECIDE_PROBLEMS } from '../decisions/contract.ts';

const RewindRequest = z
  .strictObject({
    since: z.iso
      .datetime({ offset: true })
      .describe('The time of the first decision to undo: at most 31 days ago'),
    dry_run: z.boolean().describe('True for a preview, which writes nothing'),
    fingerprint: Sha256.optional().describe(
      'Of the preview: the request is refused if anything changed since',
    ),
    cursor: Cursor.optional().describe(
      '`next_cursor` of the page before, with the same `since`: the next older decisions, in the same batch',
    ),
  })
  .meta({ id: 'RewindRequest' });

const entry = {
  event_id: AnyUuid,
  subject: z.object({ type: z.enum(SUBJECT_TYPES), id: AnyUuid }),
  action: z.enum(DECIDED_ACTIONS),
};

const RewoundEntry = z
  .object(entry)
  .meta({ id: 'RewoundDecision', description: 'A decision that the rewind undoes.' });
const LeftEntry = z
  .object({
    ...entry,
    reason: z
      .enum(LEFT_REASONS)
      .describe(
        '`undone` before; `superseded`: a later decision or its author ended it; `appealed`; `erased`; ' +
          '`author_gone`; `second_person_required`: it would become public again; `not_undoable`; ' +
          '`not_included`: a decision on a membership',
      ),
  })
  .meta({ id: 'LeftDecision', description: 'A decision that the rewind leaves, and why.' });
export type LeftEntry = z.input<typeof LeftEntry>;

const left = z.array(LeftEntry).describe('What stays as it is, newest first');
const RewindPreview = z
  .object({
    status: z.literal('previewed'),
    undo: z.array(RewoundEntry).describe('What would be undone, newest first'),
    left,
    fingerprint: Sha256.describe('Of this preview: send it with the request that undoes'),
    ...NextPage,
  })
  .meta({ id: 'RewindPreview', description: 'What a rewind would do; nothing was written.' });
const RewindReply = z
  .object({
    status: z.literal('undone'),
    batch_id: AnyUuid,
    undone: z.array(RewoundEntry).describe('What was undone, newest first'),
    left,
    ...NextPage,
  })
  .meta({ id: 'RewindReply', description: 'What a rewind did.' });
export type RewindPreview = z.input<typeof RewindPreview>;
export type RewindReply = z.input<typeof RewindReply>;

export const rewindContract = defineContract({
  'moderation.rewind': {
    method: 'POST',
    path: '/api/moderation/moderators/:moderator_id/rewind',
    summary: 'Undo what another moderator decided since a time',
    description:
      'The newest decisions first, at most 100 in a request; `next_cursor` leads to older ones. A preview ' +
      '(`dry_run`) lists what a request with its `fingerprint` does. Nothing becomes public again: removals ' +
      'are in `left`, for another lead. Nor does it undo what is under appeal. The batch can be undone ' +
      'by `POST …/batches/{batch_id}/undo`, page by page too.',
    tag: 'moderation',
    access: { roles: LEADS },
    params: z.object({ moderator_id: GivenUuid }),
    body: RewindRequest,
    idempotency: 'optional',
    replies: {
      200: {
        headers: REPLAYED_HEADER,
        description: 'The preview, or what was undone',
        body: z.union([RewindPreview, RewindReply]).meta({ id: 'Rewind' }),
      },
    },
    problems: [...DECIDE_PROBLEMS, 'invalid_request', 'invalid_cursor'],
  },
});
