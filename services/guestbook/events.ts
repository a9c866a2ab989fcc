import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { EXPERIENCES } from './experience.ts';
import { REPORT_REASONS } from './report-reasons.ts';

export const NoteSubmitted = defineEvent('NoteSubmitted', {
  data: z.strictObject({
    note_id: z.uuid(),
    experience: z.enum(EXPERIENCES),
    attribution: z.enum(['guest', 'member']),
    parent_id: z.uuid().nullable(),
    member_id: z.uuid().nullable(),
  }),
  personal: z.strictObject({ name: z.string(), message: z.string() }),
});

/** What every decision of a review says. */
const review = {
  note_id: z.uuid(),
  /** When the moderator took the note to review it. */
  claimed_at: z.iso.datetime().nullable().optional(),
  /** Decided together with others. */
  batch_id: z.uuid().optional(),
};

/** The moderator's word to the author. */
const word = z.strictObject({ message: z.string().nullable() });

export const NoteApproved = defineEvent('NoteApproved', {
  data: z.strictObject({
    ...review,
    /** The member who wrote the note that this one replies to. */
    parent_author_id: z.uuid().nullable(),
    /** The rule by which the service itself approved. */
    rule: z.string().optional(),
  }),
});

export const NoteRejected = defineEvent('NoteRejected', {
  data: z.strictObject({ ...review, policy: z.string() }),
  personal: word,
});

export const NoteRemoved = defineEvent('NoteRemoved', {
  data: z.strictObject({ ...review, policy: z.string() }),
  personal: word,
});

export const NoteRestored = defineEvent('NoteRestored', { data: z.strictObject(review) });

/** `why` is null where the service escalates. */
export const NoteEscalated = defineEvent('NoteEscalated', {
  data: z.strictObject({ ...review, cause: z.enum(['moderator', 'deferrals', 'age']) }),
  personal: z.strictObject({ why: z.string().nullable() }),
});

export const NoteDeferred = defineEvent('NoteDeferred', {
  data: z.strictObject({ ...review, until: z.iso.datetime() }),
});

/**
 * The note is as it was before; `of` is the event that was undone. `review` is the review of a
 * pending note after the undo of a deferral or an escalation.
 */
export const DecisionUndone = defineEvent('DecisionUndone', {
  data: z.strictObject({
    note_id: z.uuid(),
    of: z.uuid(),
    decision: z.enum(['approved', 'rejected', 'removed', 'deferred', 'escalated']),
    review: z
      .strictObject({
        tier: z.enum(['lead', 'normal']),
        deferred_until: z.iso.datetime().nullable(),
      })
      .optional(),
    batch_id: z.uuid().optional(),
  }),
});

/** `silent`: the reason was dismissed before, so it asks for no new review. */
export const NoteReported = defineEvent('NoteReported', {
  data: z.strictObject({
    note_id: z.uuid(),
    report_id: z.uuid(),
    member_id: z.uuid().nullable(),
    reason: z.enum(REPORT_REASONS),
    silent: z.boolean(),
  }),
  personal: z.strictObject({ details: z.string().nullable() }),
});

/** Reports that an event settles: whose they are, so that they can be told. */
const SettledReports = z.array(
  z.strictObject({ report_id: z.uuid(), member_id: z.uuid().nullable() }),
);

export const NoteWithdrawn = defineEvent('NoteWithdrawn', {
  data: z.strictObject({ note_id: z.uuid(), reports: SettledReports }),
});

export const ReportsDismissed = defineEvent('ReportsDismissed', {
  data: z.strictObject({ ...review, reports: SettledReports }),
});

/** `of` is the decision appealed against. */
const appeal = {
  note_id: z.uuid(),
  appeal_id: z.uuid(),
  of: z.uuid(),
  member_id: z.uuid(),
};

export const AppealOpened = defineEvent('AppealOpened', {
  data: z.strictObject(appeal),
  personal: z.strictObject({ text: z.string() }),
});

export const AppealGranted = defineEvent('AppealGranted', {
  data: z.strictObject({
    ...review,
    ...appeal,
    parent_id: z.uuid().nullable(),
    /** The member whose note is replied to, where this publishes the reply for the first time. */
    parent_author_id: z.uuid().nullable(),
  }),
  personal: word,
});

export const AppealUpheld = defineEvent('AppealUpheld', {
  data: z.strictObject({ ...review, ...appeal }),
  personal: word,
});

/** The time in which the author could appeal has passed. */
export const AppealPeriodEnded = defineEvent('AppealPeriodEnded', {
  data: z.strictObject({ note_id: z.uuid(), of: z.uuid() }),
});

/** The text is gone from every event and read model; the facts stay. */
export const NoteErased = defineEvent('NoteErased', {
  data: z.strictObject({
    note_id: z.uuid(),
    cause: z.enum(['retention', 'account_deletion']),
  }),
});

/**
 * A decision can no longer be undone by whoever made it, so those concerned are told. In a stream of
 * its own, so that the note's version stays what its reviewer saw.
 */
export const DecisionTold = defineEvent('DecisionTold', {
  data: z.strictObject({
    note_id: z.uuid(),
    of: z.uuid(),
    /** `overturned`: another made the note public before it was told. Reporters alone learn of it. */
    outcome: z.enum(['approved', 'rejected', 'removed', 'restored', 'overturned']),
    policy: z.string().nullable(),
    /** Whether the moderator left a word for the author, who reads it with the outcome. */
    message: z.boolean(),
    experience: z.enum(EXPERIENCES),
    member_id: z.uuid().nullable(),
    parent_id: z.uuid().nullable(),
    parent_author_id: z.uuid().nullable(),
    appeal_until: z.iso.datetime().nullable(),
    reports: SettledReports,
  }),
});
