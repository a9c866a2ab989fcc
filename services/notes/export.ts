import { type NoteOfMember, notesOfMember } from '../../projections/notes.ts';
import { exportSection } from '../export-section.ts';

export const notesSection = exportSection<NoteOfMember>({
  name: 'notes',
  after: notesOfMember,
  entry: ({ note_id, experience, parent_id, message, state, submitted_at, approved_at }) => ({
    id: note_id,
    experience,
    parent_id,
    message,
    state,
    submitted_at: submitted_at.toISOString(),
    approved_at: approved_at?.toISOString() ?? null,
  }),
});
