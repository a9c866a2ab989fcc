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

/** Fields of every review decision. */
const review = {
  note_id: z.uuid(),
  /** When the moderator claimed the note for review. */
  claimed_at: z.iso.datetime().nullable().optional(),
  /** Shared by all decisions of one batch. */
  batch_id: z.uuid().optional(),
};

/** The moderator's message to the author. */
const word = z.strictObject({ message: z.string().nullable() });

export const NoteApproved = defineEvent('NoteApproved', {
  data: z.strictObject({
    ...review,
    /** The member who wrote the note that this note replies to. */
    parent_author_id: z.uuid().nullable(),
    /** The rule that the service applied, if it approved the note itself. */
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

/** `why` is null if the service escalated the note. */
export const NoteEscalated = defineEvent('NoteEscalated', {
  data: z.strictObject({ ...review, cause: z.enum(['moderator', 'deferrals', 'age']) }),
  personal: z.strictObject({ why: z.string().nullable() }),
});

export const NoteDeferred = defineEvent('NoteDeferred', {
  data: z.strictObject({ ...review, until: z.iso.datetime() }),
});

/**
 * Restores the note to its state before `of`, the undone event. `review` holds the tier and due
 * time of a pending note after the undo of a deferral or an escalation.
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

/** `silent`: a moderator dismissed this reason before, so the report requests no new review. */
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

/** The reports that an event settles, with their reporters, who are notified. */
const SettledReports = z.array(
  z.strictObject({ report_id: z.uuid(), member_id: z.uuid().nullable() }),
);

export const NoteWithdrawn = defineEvent('NoteWithdrawn', {
  data: z.strictObject({ note_id: z.uuid(), reports: SettledReports }),
});

export const ReportsDismissed = defineEvent('ReportsDismissed', {
  data: z.strictObject({ ...review, reports: SettledReports }),
});

/** Fields of every appeal event; `of` is the decision appealed against. */
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
    /** The author of the parent note, if this event publishes the reply for the first time. */
    parent_author_id: z.uuid().nullable(),
  }),
  personal: word,
});

export const AppealUpheld = defineEvent('AppealUpheld', {
  data: z.strictObject({ ...review, ...appeal }),
  personal: word,
});

/** The author's time to appeal has passed. */
export const AppealPeriodEnded = defineEvent('AppealPeriodEnded', {
  data: z.strictObject({ note_id: z.uuid(), of: z.uuid() }),
});

/** The note's text was erased from every event and read model; the other facts remain. */
export const NoteErased = defineEvent('NoteErased', {
  data: z.strictObject({
    note_id: z.uuid(),
    cause: z.enum(['retention', 'account_deletion']),
  }),
});

/**
 * Notifies the members concerned once the undo window of a decision has ended. The event has a
 * separate stream, so that the note keeps the version that its reviewer saw.
 */
export const DecisionTold = defineEvent('DecisionTold', {
  data: z.strictObject({
    note_id: z.uuid(),
    of: z.uuid(),
    /** `overturned`: the note was public again before the notification; only reporters get it. */
    outcome: z.enum(['approved', 'rejected', 'removed', 'restored', 'overturned']),
    policy: z.string().nullable(),
    /** Whether the moderator left a message, which the author reads with the outcome. */
    message: z.boolean(),
    experience: z.enum(EXPERIENCES),
    member_id: z.uuid().nullable(),
    parent_id: z.uuid().nullable(),
    parent_author_id: z.uuid().nullable(),
    appeal_until: z.iso.datetime().nullable(),
    reports: SettledReports,
  }),
});
