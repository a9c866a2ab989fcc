import { noteStream } from '../../domain/guestbook/words.ts';
import { publicNoteOwner } from '../../projections/guestbook/notes.ts';
import type { ProvableRecord } from '../publications/provable-record.ts';

/** A corrected note has its text in the event of the correction; that of the submission is erased. */
export const provableNote: ProvableRecord = {
  type: 'note',
  owner: publicNoteOwner,
  stream: noteStream,
  events: {
    NoteSubmitted: [
      'data.note_id',
      'data.experience',
      'data.attribution',
      'data.parent_id',
      'personal.name',
      'personal.message',
    ],
    NoteCorrected: ['data.note_id', 'personal.message'],
  },
};
