import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { ROLES } from '../permissions.ts';
import { SUBJECT_TYPES } from './subject.ts';
import { FOLD_KINDS } from './words.ts';

export const ModeratorAdded = defineEvent('ModeratorAdded', {
  summary: 'The operator added a moderator.',

  data: z.strictObject({ moderator_id: z.uuid(), role: z.enum(ROLES) }),
  personal: z.strictObject({ name: z.string() }),
});

export const ModeratorRevoked = defineEvent('ModeratorRevoked', {
  summary:
    'The operator revoked the moderator: token and sessions end, and every claim is released.',

  data: z.strictObject({ moderator_id: z.uuid() }),
});

export const ModeratorTokenRotated = defineEvent('ModeratorTokenRotated', {
  summary:
    'The operator replaced the moderator’s token: the sessions end, and every claim is released.',

  data: z.strictObject({ moderator_id: z.uuid() }),
});

export const ModeratorSignedIn = defineEvent('ModeratorSignedIn', {
  summary: 'The moderator signed in to the console.',

  data: z.strictObject({ moderator_id: z.uuid(), session_id: z.uuid() }),
});

export const ModeratorSignedOut = defineEvent('ModeratorSignedOut', {
  summary: 'The moderator signed out, or signed in again in the same browser (`replaced`).',

  data: z.strictObject({
    moderator_id: z.uuid(),
    session_id: z.uuid(),
    reason: z.enum(['signed_out', 'replaced']),
  }),
});

export const PolicyChanged = defineEvent('PolicyChanged', {
  summary: 'A lead added, reworded, deactivated or reactivated a policy.',

  data: z.strictObject({ code: z.string(), version: z.int().min(1), active: z.boolean() }),
  personal: z.strictObject({
    title: z.string(),
    text: z.string(),
    /** Prepared messages to authors; absent if there are none. */
    messages: z.array(z.string()).optional(),
  }),
});

export const ClaimTakenOver = defineEvent('ClaimTakenOver', {
  summary: 'A lead took over an item that the moderator `from` had claimed at `claimed_at`.',

  data: z.strictObject({
    subject: z.strictObject({ type: z.enum(SUBJECT_TYPES), id: z.uuid() }),
    from: z.uuid(),
    claimed_at: z.iso.datetime(),
  }),
});

/** Says which note the others are like, never a hash of a text or the key of an address, which are kept for a time only. */
const Fold = {
  subject: z.strictObject({ type: z.literal('note'), id: z.uuid() }),
  kind: z.enum(FOLD_KINDS),
};

export const NotesFolded = defineEvent('NotesFolded', {
  summary:
    'A moderator folded the waiting notes of guests that are like this one, or came from its address, until a time; or changed that time.',

  data: z.strictObject({ ...Fold, until: z.iso.datetime() }),
});

export const NotesUnfolded = defineEvent('NotesUnfolded', {
  summary: 'A moderator ended the fold before its time.',

  data: z.strictObject(Fold),
});

export const CommentAdded = defineEvent('CommentAdded', {
  summary: 'A moderator commented on a note, a record or a member, for moderators only.',

  data: z.strictObject({
    subject: z.strictObject({ type: z.enum(SUBJECT_TYPES), id: z.uuid() }),
  }),
  personal: z.strictObject({ text: z.string() }),
});

export const CommentDeleted = defineEvent('CommentDeleted', {
  summary: 'The author of the comment `of`, or a lead, deleted it, which erased its text.',

  data: z.strictObject({
    subject: z.strictObject({ type: z.enum(SUBJECT_TYPES), id: z.uuid() }),
    of: z.uuid(),
  }),
});

export const QueueOverdue = defineEvent('QueueOverdue', {
  summary:
    'A note has waited for more than a day. Recorded once, until `QueueCaughtUp` ends the alert.',

  data: z.strictObject({
    pending: z.int(),
    past_due: z.int(),
    oldest_submitted_at: z.iso.datetime(),
  }),
});

export const QueueCaughtUp = defineEvent('QueueCaughtUp', {
  summary: 'No note has waited for more than a day any more.',

  data: z.strictObject({ pending: z.int() }),
});
