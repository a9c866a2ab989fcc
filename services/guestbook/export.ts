import { z } from 'zod';
import { EXPERIENCES } from '../../domain/guestbook/words.ts';
import { AnyUuid, Timestamp } from '../../platform/http/schemas.ts';
import { type AppealOfMember, appealsOfMember } from '../../projections/guestbook/note-appeals.ts';
import { type NoteOfMember, notesOfMember } from '../../projections/guestbook/notes-of-member.ts';
import { exportSection, ToldDecision } from '../membership/export-section.ts';
import { NoteState } from './followup-contract.ts';

export const notesSection = exportSection<NoteOfMember>({
  name: 'notes',
  after: notesOfMember,
  entry: ({ note_id, submitted_at, approved_at, at: _, ...note }) => ({
    id: note_id,
    ...note,
    submitted_at: submitted_at.toISOString(),
    approved_at: approved_at?.toISOString() ?? null,
  }),
  schema: z
    .object({
      id: AnyUuid,
      experience: z.enum(EXPERIENCES),
      parent_id: AnyUuid.nullable(),
      message: z.string().nullable().describe('null once it was erased'),
      state: NoteState,
      decision: ToldDecision,
      submitted_at: Timestamp,
      approved_at: Timestamp.nullable(),
    })
    .meta({ id: 'ExportedNote' }),
});

export const appealsSection = exportSection<AppealOfMember>({
  name: 'appeals',
  after: appealsOfMember,
  entry: ({ appeal_id, note_id, of, text, state, opened_at, decided_at, message }) => ({
    id: appeal_id,
    note_id,
    decision_id: of,
    text,
    state,
    opened_at: opened_at.toISOString(),
    decided_at: decided_at?.toISOString() ?? null,
    message,
  }),
  schema: z
    .object({
      id: AnyUuid,
      note_id: AnyUuid,
      decision_id: AnyUuid,
      text: z.string().nullable().describe('null once it was erased'),
      state: z.enum(['open', 'granted', 'upheld', 'moot']),
      opened_at: Timestamp,
      decided_at: Timestamp.nullable(),
      message: z.string().nullable().describe('The message of the moderator who decided on it'),
    })
    .meta({ id: 'ExportedAppeal' }),
});
