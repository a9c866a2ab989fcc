import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { EXPERIENCES, IMPORT_SOURCES, REPORT_REASONS } from './words.ts';

export const NoteSubmitted = defineEvent('NoteSubmitted', {
  summary:
    'A guest or a member submitted a note; or the operator imported a comment of another program. `imported` then says from where, and when it was written as its source says: the event is recorded when it is imported.',

  data: z.strictObject({
    note_id: z.uuid(),
    experience: z.enum(EXPERIENCES),
    attribution: z.enum(['guest', 'member']),
    parent_id: z.uuid().nullable(),
    member_id: z.uuid().nullable(),
    imported: z
      .strictObject({
        import_id: z.uuid(),
        source: z.enum(IMPORT_SOURCES),
        /** SHA-256 of the source, its site and the comment's id there. */
        source_key: z.string().regex(/^[0-9a-f]{64}$/),
        written_at: z.iso.datetime(),
      })
      .optional(),
  }),
  personal: z.strictObject({ name: z.string(), message: z.string() }),
});

export const NoteCorrected = defineEvent('NoteCorrected', {
  summary:
    'The member corrected the text of a note that waits for review. The former text is erased in the same transaction.',

  data: z.strictObject({ note_id: z.uuid() }),
  personal: z.strictObject({ message: z.string() }),
});

/** Fields of every review decision. */
const review = {
  note_id: z.uuid(),
  /** When the moderator claimed the note for review. */
  claimed_at: z.iso.datetime().nullable().optional(),
  /** Shared by all decisions of one batch. */
  batch_id: z.uuid().optional(),
};

/**
 * Set if the decision can be undone and `DecisionTold` announces it after the undo window. In earlier
 * releases these events announced themselves.
 */
const undoable = z.literal(true).optional();

/** The moderator's message to the author. */
const word = z.strictObject({ message: z.string().nullable() });

export const NoteApproved = defineEvent('NoteApproved', {
  summary:
    'A moderator approved the note; or the service did, by the rule that `rule` names; or the operator, who imported it as reviewed by `reviewed_by`. `parent_author_id` is the member who wrote the note that it replies to.',

  data: z.strictObject({
    ...review,
    /** The member who wrote the note that this note replies to. */
    parent_author_id: z.uuid().nullable(),
    /** The rule that the service applied, if it approved the note itself. */
    rule: z.string().optional(),
    /** The moderator whom the operator named as the reviewer of an import. */
    reviewed_by: z.uuid().optional(),
  }),
});

export const NoteRejected = defineEvent('NoteRejected', {
  summary: 'A moderator rejected the pending note.',

  data: z.strictObject({ ...review, policy: z.string() }),
  personal: word,
});

export const NoteRemoved = defineEvent('NoteRemoved', {
  summary: 'A moderator removed the public note.',

  data: z.strictObject({ ...review, policy: z.string() }),
  personal: word,
});

export const NoteRestored = defineEvent('NoteRestored', {
  summary: 'A second person restored the removed note.',
  data: z.strictObject(review),
});

export const NoteEscalated = defineEvent('NoteEscalated', {
  summary:
    'A moderator escalated the note to the leads; or the service did, after too many deferrals or by its age, and then `why` is null.',

  data: z.strictObject({ ...review, cause: z.enum(['moderator', 'deferrals', 'age']) }),
  personal: z.strictObject({ why: z.string().nullable() }),
});

export const NoteDeferred = defineEvent('NoteDeferred', {
  summary: 'A moderator deferred the review of the note.',

  data: z.strictObject({ ...review, until: z.iso.datetime() }),
});

/** The reports that an event settles, with their reporters, who are notified. */
const SettledReports = z.array(
  z.strictObject({ report_id: z.uuid(), member_id: z.uuid().nullable() }),
);

export const DecisionUndone = defineEvent('DecisionUndone', {
  summary:
    'A decision was undone: the note is in the state before `of` again. `review` holds tier and due time of a pending note after the undo of a deferral or an escalation; `appeal`, `refused`, `reports` and `reported_at` what an undone answer to an appeal or to reports brings back.',

  data: z.strictObject({
    note_id: z.uuid(),
    of: z.uuid(),
    decision: z.enum([
      'approved',
      'rejected',
      'removed',
      'deferred',
      'escalated',
      'kept',
      'granted',
      'upheld',
    ]),
    review: z
      .strictObject({
        tier: z.enum(['lead', 'normal']),
        deferred_until: z.iso.datetime().nullable(),
      })
      .optional(),
    /** The appeal that is open again, after the undo of its grant or of the decision upheld. */
    appeal: z.strictObject({ appeal_id: z.uuid(), opened_at: z.iso.datetime() }).optional(),
    /** The decision in force again, after the undo of a granted appeal. */
    refused: z
      .strictObject({
        of: z.uuid(),
        state: z.enum(['rejected', 'removed']),
        at: z.iso.datetime(),
        moderator_id: z.uuid().nullable(),
      })
      .optional(),
    /** Reports that the undo of a granted appeal settles as `removed`. */
    reports: SettledReports.optional(),
    /** Time of the oldest report that is open, or would be without the refusal. */
    reported_at: z.iso.datetime().nullable().optional(),
    batch_id: z.uuid().optional(),
  }),
});

export const NoteReported = defineEvent('NoteReported', {
  summary:
    'Somebody reported the note. `silent`: a moderator dismissed this reason before, so the report requests no new review.',

  data: z.strictObject({
    note_id: z.uuid(),
    report_id: z.uuid(),
    member_id: z.uuid().nullable(),
    reason: z.enum(REPORT_REASONS),
    silent: z.boolean(),
  }),
  personal: z.strictObject({ details: z.string().nullable() }),
});

export const NoteWithdrawn = defineEvent('NoteWithdrawn', {
  summary:
    'The author withdrew the note, which settles `reports`; or the operator undid the import of the note, as `cause` says.',

  data: z.strictObject({
    note_id: z.uuid(),
    reports: SettledReports,
    cause: z.literal('import_undone').optional(),
  }),
});

export const ReportsDismissed = defineEvent('ReportsDismissed', {
  summary:
    'A moderator kept the reported note, which settles `reports`. `open_since` is the time of the oldest report that came later and stays open.',

  data: z.strictObject({
    ...review,
    undoable,
    reports: SettledReports,
    open_since: z.iso.datetime().optional(),
  }),
});

/** Fields of every appeal event; `of` is the decision appealed against. */
const appeal = {
  note_id: z.uuid(),
  appeal_id: z.uuid(),
  of: z.uuid(),
  member_id: z.uuid(),
};

export const AppealOpened = defineEvent('AppealOpened', {
  summary: 'The author appealed against the decision `of`.',

  data: z.strictObject(appeal),
  personal: z.strictObject({ text: z.string() }),
});

export const AppealGranted = defineEvent('AppealGranted', {
  summary:
    'A moderator granted the appeal: the note is public. `parent_author_id` is set if this publishes a reply for the first time.',

  data: z.strictObject({
    ...review,
    undoable,
    ...appeal,
    parent_id: z.uuid().nullable(),
    /** The author of the parent note, if this event publishes the reply for the first time. */
    parent_author_id: z.uuid().nullable(),
  }),
  personal: word,
});

export const AppealUpheld = defineEvent('AppealUpheld', {
  summary: 'A moderator upheld the decision.',

  data: z.strictObject({ ...review, undoable, ...appeal }),
  personal: word,
});

export const AppealPeriodEnded = defineEvent('AppealPeriodEnded', {
  summary: 'The author’s time to appeal against `of` has passed.',

  data: z.strictObject({ note_id: z.uuid(), of: z.uuid() }),
});

export const NoteErased = defineEvent('NoteErased', {
  summary: 'The text of the note was erased from every event and read model; all else remains.',

  data: z.strictObject({
    note_id: z.uuid(),
    cause: z.enum(['retention', 'account_deletion', 'import_undone']),
  }),
});

export const DecisionTold = defineEvent('DecisionTold', {
  summary:
    'The undo window of the decision `of` has ended; this event notifies the affected members. It has a separate stream, so that the note keeps the version that its reviewer saw. `overturned`: the note was public again by then, and only reporters are notified.',

  data: z.strictObject({
    note_id: z.uuid(),
    of: z.uuid(),
    /** `overturned`: the note was public again before the notification; only reporters get it. */
    outcome: z.enum([
      'approved',
      'rejected',
      'removed',
      'restored',
      'overturned',
      'kept',
      'granted',
      'upheld',
    ]),
    policy: z.string().nullable(),
    /** Whether the moderator left a message, which the author reads with the outcome. */
    message: z.boolean(),
    experience: z.enum(EXPERIENCES),
    member_id: z.uuid().nullable(),
    parent_id: z.uuid().nullable(),
    parent_author_id: z.uuid().nullable(),
    appeal_until: z.iso.datetime().nullable(),
    reports: SettledReports,
    /** The appeal that the decision answered, and the decision appealed against. */
    appeal: z.strictObject({ appeal_id: z.uuid(), of: z.uuid() }).optional(),
  }),
});
