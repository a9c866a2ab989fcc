import { type NoteOfMember, notesOfMember } from '../../projections/notes.ts';
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
