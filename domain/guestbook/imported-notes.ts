import type { NewEvent } from '../../platform/eventstore/event.ts';
import type * as events from './events.ts';
import { type NoteState, openReports, settledReports } from './state.ts';
import type { Experience, ImportSource } from './words.ts';

type Imported = NewEvent<(typeof events)['NoteSubmitted' | 'NoteApproved']>;
type Undone = NewEvent<(typeof events)['NoteWithdrawn' | 'NoteErased']>;

export interface ImportNote {
  noteId: string;
  experience: Experience;
  parentId: string | null;
  name: string;
  message: string;
  importId: string;
  source: ImportSource;
  sourceKey: string;
  writtenAt: Date;
  /** The moderator who reviewed the comment before, by the operator's word; null if it waits for review. */
  reviewedBy: string | null;
}

/**
 * Submits a comment of another program as the note of a guest, and approves it if it was reviewed before.
 * Admission and the state of the parent are the caller's to check: an import is not a guest's submission.
 */
export function importNote(command: ImportNote): Imported[] {
  const { noteId, experience, parentId, name, message, reviewedBy } = command;
  const submitted: Imported = {
    type: 'NoteSubmitted',
    data: {
      note_id: noteId,
      experience,
      attribution: 'guest',
      parent_id: parentId,
      member_id: null,
      imported: {
        import_id: command.importId,
        source: command.source,
        source_key: command.sourceKey,
        written_at: command.writtenAt.toISOString(),
      },
    },
    personal: { name, message },
  };
  if (reviewedBy === null) return [submitted];
  return [
    submitted,
    {
      type: 'NoteApproved',
      data: {
        note_id: noteId,
        claimed_at: null,
        // Only an imported note, which has no member as its author, gets imported replies.
        parent_author_id: null,
        reviewed_by: reviewedBy,
      },
      personal: null,
    },
  ];
}

/** Withdraws an imported note that waits or is public, and erases it in any state. */
export function undoImport(state: NoteState): Undone[] {
  if (state.status === 'none') return [];
  const { noteId: note_id } = state;
  const erased: Undone = {
    type: 'NoteErased',
    data: { note_id, cause: 'import_undone' },
    personal: null,
  };
  if (state.status !== 'pending' && state.status !== 'approved') return [erased];
  const reports = settledReports(openReports(state));
  return [
    { type: 'NoteWithdrawn', data: { note_id, reports, cause: 'import_undone' }, personal: null },
    erased,
  ];
}
