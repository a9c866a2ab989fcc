import { z } from 'zod';
import { defineEvent } from '../eventstore/event.ts';
import { EXPERIENCES } from './experience.ts';

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

export const NoteApproved = defineEvent('NoteApproved', {
  data: z.strictObject({
    note_id: z.uuid(),
    /** When the moderator took the note to review it. */
    claimed_at: z.iso.datetime().nullable(),
    /** The member who wrote the note that this one replies to. */
    parent_author_id: z.uuid().nullable(),
  }),
});

/** `message` is the moderator's word to the author. */
export const NoteRejected = defineEvent('NoteRejected', {
  data: z.strictObject({
    note_id: z.uuid(),
    policy: z.string(),
    /** When the moderator took the note to review it. */
    claimed_at: z.iso.datetime().nullable().optional(),
  }),
  personal: z.strictObject({ message: z.string().nullable() }),
});

/** The note is pending again; `of` is the event that was undone. */
export const DecisionUndone = defineEvent('DecisionUndone', {
  data: z.strictObject({
    note_id: z.uuid(),
    of: z.uuid(),
    decision: z.enum(['approved', 'rejected']),
  }),
});

/** Reports that an event settles: whose they are, so that they can be told. */
const SettledReports = z.array(
  z.strictObject({ report_id: z.uuid(), member_id: z.uuid().nullable() }),
);

/** By its author, who may have been reported; the reports are settled with it. */
export const NoteWithdrawn = defineEvent('NoteWithdrawn', {
  data: z.strictObject({ note_id: z.uuid(), reports: SettledReports }),
});

/** The text is gone from every event and read model; the facts stay. */
export const NoteErased = defineEvent('NoteErased', {
  data: z.strictObject({
    note_id: z.uuid(),
    cause: z.enum(['retention', 'account_deletion']),
  }),
});
