import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { REVIEW_DECISIONS } from './review-decision.ts';

/**
 * A case's author owns its stream. `members` are the members whom the event concerns: all who have
 * opened, claimed, submitted, reviewed or noted so far. Feeds need no other source.
 */
const members = z.array(z.uuid());
const case_id = z.uuid();
const time = z.iso.datetime();

export const CaseOpened = defineEvent('CaseOpened', {
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

export const CaseClaimed = defineEvent('CaseClaimed', { data: z.strictObject(lease) });

export const CaseLeaseExtended = defineEvent('CaseLeaseExtended', { data: z.strictObject(lease) });

/** The claimant released the case, or the claimant's account was closed. */
export const CaseReleased = defineEvent('CaseReleased', {
  data: z.strictObject({
    case_id,
    member_id: z.uuid(),
    reason: z.enum(['claimant', 'deactivated']),
    members,
  }),
});

/** The lease expired at `lease_expires_at`; the event may be recorded later. */
export const CaseLeaseEnded = defineEvent('CaseLeaseEnded', {
  data: z.strictObject({ case_id, member_id: z.uuid(), lease_expires_at: time, members }),
});

export const CaseSubmitted = defineEvent('CaseSubmitted', {
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

/** A member's review of a submission. If the author made it, the next event is the outcome. */
export const CaseReviewed = defineEvent('CaseReviewed', {
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

export const CaseAccepted = defineEvent('CaseAccepted', { data: z.strictObject(outcome) });

/** The author requested changes: the submitter holds the case again, with a new lease. */
export const CaseReturned = defineEvent('CaseReturned', {
  data: z.strictObject({ ...outcome, lease_expires_at: time }),
});

export const CaseRejected = defineEvent('CaseRejected', { data: z.strictObject(outcome) });

export const CaseWithdrawn = defineEvent('CaseWithdrawn', {
  data: z.strictObject({ case_id, reason: z.enum(['author', 'deactivated']), members }),
});

/** Each note on a case has a separate stream, owned by the note's author. */
export const CaseNoted = defineEvent('CaseNoted', {
  data: z.strictObject({ case_id, note_id: z.uuid(), policy_version: z.string(), members }),
  personal: z.strictObject({ message: z.string() }),
});

const removed = { case_id, policy: z.string(), claimed_at: time.nullable() };
const told = { case_id, of: z.uuid(), policy: z.string() };
const restored = { case_id, of: z.uuid(), undone: z.boolean(), told: z.boolean() };
const message = z.strictObject({ message: z.string().nullable() });

/** A moderator removed the case; `message` is the moderator's message to the author. */
export const CaseRemoved = defineEvent('CaseRemoved', {
  data: z.strictObject(removed),
  personal: message,
});

/** The removal `of` can no longer be undone, so this event notifies the members concerned. */
export const CaseRemovalTold = defineEvent('CaseRemovalTold', {
  data: z.strictObject({ ...told, members }),
});

/**
 * `undone`: the remover or a lead undid the removal; otherwise a second person restored the case.
 * `told`: the members concerned had been notified of the removal.
 */
export const CaseRestored = defineEvent('CaseRestored', {
  data: z.strictObject({ ...restored, members }),
});

export const CaseNoteRemoved = defineEvent('CaseNoteRemoved', {
  data: z.strictObject({ ...removed, note_id: z.uuid() }),
  personal: message,
});

export const CaseNoteRemovalTold = defineEvent('CaseNoteRemovalTold', {
  data: z.strictObject({ ...told, note_id: z.uuid() }),
});

export const CaseNoteRestored = defineEvent('CaseNoteRestored', {
  data: z.strictObject({ ...restored, note_id: z.uuid() }),
});
