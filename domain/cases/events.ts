import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { REVIEW_DECISIONS } from './words.ts';

/**
 * A case's author owns its stream. `members` are the active members whom the event concerns: the
 * author, the claimant, the 200 who took part last, and the member who acts. Feeds need no other
 * source. Events of earlier releases name all who had taken part.
 */
const members = z.array(z.uuid());
const case_id = z.uuid();
const time = z.iso.datetime();

export const CaseOpened = defineEvent('CaseOpened', {
  summary: 'A member opened a case.',

  data: z.strictObject({
    case_id,
    author_id: z.uuid(),
    artifact_id: z.uuid().nullable(),
    policy_version: z.string(),
  }),
  personal: z.strictObject({
    title: z.string(),
    summary: z.string(),
    objective: z.string(),
    acceptance_criteria: z.array(z.string()),
  }),
});

const lease = {
  case_id,
  /** The claimant. */
  member_id: z.uuid(),
  lease_seconds: z.int(),
  lease_expires_at: time,
  members,
};

export const CaseClaimed = defineEvent('CaseClaimed', {
  summary: 'A member claimed the open case for `lease_seconds`.',
  data: z.strictObject(lease),
});

export const CaseLeaseExtended = defineEvent('CaseLeaseExtended', {
  summary: 'The claimant extended the lease.',
  data: z.strictObject(lease),
});

export const CaseReleased = defineEvent('CaseReleased', {
  summary: 'The claimant released the case or closed the account.',

  data: z.strictObject({
    case_id,
    member_id: z.uuid(),
    reason: z.enum(['claimant', 'deactivated']),
    members,
  }),
});

export const CaseLeaseEnded = defineEvent('CaseLeaseEnded', {
  summary: 'The lease expired at `lease_expires_at`; the event may be recorded later.',

  data: z.strictObject({ case_id, member_id: z.uuid(), lease_expires_at: time, members }),
});

export const CaseSubmitted = defineEvent('CaseSubmitted', {
  summary: 'The claimant submitted work.',

  data: z.strictObject({
    case_id,
    submission_id: z.uuid(),
    member_id: z.uuid(),
    artifact_id: z.uuid().nullable(),
    policy_version: z.string(),
    members,
  }),
  personal: z.strictObject({ summary: z.string() }),
});

export const CaseReviewed = defineEvent('CaseReviewed', {
  summary:
    'A member reviewed a submission. If the member is the author (`binding`), the next event is the outcome.',

  data: z.strictObject({
    case_id,
    review_id: z.uuid(),
    submission_id: z.uuid(),
    member_id: z.uuid(),
    decision: z.enum(REVIEW_DECISIONS),
    binding: z.boolean(),
    policy_version: z.string(),
    members,
  }),
  personal: z.strictObject({ comment: z.string() }),
});

const outcome = {
  case_id,
  review_id: z.uuid(),
  submission_id: z.uuid(),
  /** The submitter. */
  member_id: z.uuid(),
  members,
};

export const CaseAccepted = defineEvent('CaseAccepted', {
  summary: 'The author accepted the submission; the case is finished.',
  data: z.strictObject(outcome),
});

export const CaseReturned = defineEvent('CaseReturned', {
  summary: 'The author requested changes: the submitter holds the case again, with a new lease.',

  data: z.strictObject({ ...outcome, lease_expires_at: time }),
});

export const CaseRejected = defineEvent('CaseRejected', {
  summary: 'The author rejected the submission; the case is open again.',
  data: z.strictObject(outcome),
});

export const CaseWithdrawn = defineEvent('CaseWithdrawn', {
  summary: 'The author withdrew the case or closed the account.',

  data: z.strictObject({ case_id, reason: z.enum(['author', 'deactivated']), members }),
});

export const CaseAuthorLeft = defineEvent('CaseAuthorLeft', {
  summary: 'The author closed the account: the case is gone, in any state.',

  data: z.strictObject({ case_id }),
});

export const CaseNoted = defineEvent('CaseNoted', {
  summary:
    'A member added a note to the case. Each note has a separate stream, owned by its author.',

  data: z.strictObject({ case_id, note_id: z.uuid(), policy_version: z.string(), members }),
  personal: z.strictObject({ message: z.string() }),
});

const removed = { case_id, policy: z.string(), claimed_at: time.nullable() };
const told = { case_id, of: z.uuid(), policy: z.string() };
const restored = { case_id, of: z.uuid(), undone: z.boolean(), told: z.boolean() };
const message = z.strictObject({ message: z.string().nullable() });

export const CaseRemoved = defineEvent('CaseRemoved', {
  summary: 'A moderator removed the case. `message` is addressed to the author.',

  data: z.strictObject(removed),
  personal: message,
});

export const CaseRemovalTold = defineEvent('CaseRemovalTold', {
  summary: 'The removal `of` can no longer be undone; this event notifies the affected members.',

  data: z.strictObject({ ...told, members }),
});

export const CaseRestored = defineEvent('CaseRestored', {
  summary:
    'The case is public again. `undone`: the moderator who removed it or a lead undid the removal; otherwise a second person restored it. `told`: the affected members had been notified of the removal.',

  data: z.strictObject({ ...restored, members }),
});

export const CaseNoteRemoved = defineEvent('CaseNoteRemoved', {
  summary: 'A moderator removed a note on a case. `message` is addressed to its author.',

  data: z.strictObject({ ...removed, note_id: z.uuid() }),
  personal: message,
});

export const CaseNoteRemovalTold = defineEvent('CaseNoteRemovalTold', {
  summary: 'The removal `of` can no longer be undone; this event notifies the author of the note.',

  data: z.strictObject({ ...told, note_id: z.uuid() }),
});

export const CaseNoteRestored = defineEvent('CaseNoteRestored', {
  summary:
    'The note is public again. `undone`: the moderator who removed it or a lead undid the removal; otherwise a second person restored it. `told`: the author had been notified of the removal.',

  data: z.strictObject({ ...restored, note_id: z.uuid() }),
});
