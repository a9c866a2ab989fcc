import { z } from 'zod';
import { DECIDERS, READERS } from '../../../domain/moderation/roles.ts';
import { FOLD_KINDS } from '../../../domain/moderation/words.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { AnyUuid, GivenUuid } from '../../../platform/http/schemas.ts';
import { Fold } from '../queue/item.ts';
import { MAX_FOLDS } from '../queue/live-folds.ts';

const FoldList = z
  .object({ status: z.literal('ok'), folds: z.array(Fold).describe('The oldest first') })
  .meta({ id: 'NoteFoldList', description: 'What is folded.' });

const FoldRequest = z
  .strictObject({
    days: z.int().min(1).max(90).default(7).describe('For how many days; an address at most two'),
  })
  .meta({ id: 'NoteFoldRequest', description: 'How long notes are folded.' });

const FoldReply = z
  .object({
    status: z.enum(['folded', 'unfolded']),
    kind: z.enum(FOLD_KINDS),
    note_id: AnyUuid.describe('The note that was named'),
  })
  .meta({ id: 'NoteFoldReply', description: 'The notes are folded, or not any more.' });

const params = z.object({
  kind: z.enum(FOLD_KINDS).describe('What the notes share: `text` or `address`'),
  note_id: GivenUuid.describe("A guest's note"),
});

export const foldsContract = defineContract({
  'moderation.folds': {
    method: 'GET',
    path: '/api/moderation/folds',
    summary: "Folds of guests' waiting notes that are not over",
    tag: 'views',
    access: { roles: READERS },
    replies: { 200: { description: 'The folds', body: FoldList } },
    problems: ['moderator_required'],
  },
  'moderation.fold': {
    method: 'PUT',
    path: '/api/moderation/folds/:kind/:note_id',
    summary: 'Fold the waiting notes of guests that are like one note into one row of the queue',
    description:
      'In `todo`, the oldest of them represents the others, which a person still reads: `like` or ' +
      '`same_address_as` lists them. Nothing is decided, and no guest learns of it. It ends after `days`, and ' +
      'with the fingerprint or the key of the address, which is kept for 48 hours. At most ' +
      `${MAX_FOLDS} at a time. The same again only changes its end.`,
    tag: 'views',
    access: { roles: DECIDERS },
    params,
    body: FoldRequest,
    replies: { 200: { description: 'The notes are folded', body: FoldReply } },
    problems: ['moderator_required', 'role_required', 'not_found', 'state_conflict'],
  },
  'moderation.unfold': {
    method: 'DELETE',
    path: '/api/moderation/folds/:kind/:note_id',
    summary: 'Give folded notes rows of their own again',
    tag: 'views',
    access: { roles: DECIDERS },
    params,
    replies: { 200: { description: 'The notes are not folded', body: FoldReply } },
    problems: ['moderator_required', 'role_required', 'not_found'],
  },
});
