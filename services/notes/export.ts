import { type AppealOfMember, appealsOfMember } from '../../projections/note-appeals.ts';
import { type NoteOfMember, notesOfMember } from '../../projections/notes-of-member.ts';
import { exportSection } from '../export-section.ts';

export const notesSection = exportSection<NoteOfMember>({
  name: 'notes',
  after: notesOfMember,
  entry: ({ note_id, submitted_at, approved_at, at: _, ...note }) => ({
    id: note_id,
    ...note,
    submitted_at: submitted_at.toISOString(),
    approved_at: approved_at?.toISOString() ?? null,
  }),
});

/** An appeal's outcome is told when it is decided: nobody can undo that. */
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
});
