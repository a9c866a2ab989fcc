import * as notes from '../../services/notes/events.ts';
import { defineFeedEntries } from './entry.ts';

/** The author learns of a decision from another event, once it can no longer be undone. */
export const notesFeed = defineFeedEntries(notes, {
  NoteSubmitted: ({ data }) =>
    data.member_id === null
      ? []
      : {
          member: data.member_id,
          type: 'note.submitted',
          subject: { type: 'note', id: data.note_id },
          data: { experience: data.experience, parent_id: data.parent_id },
        },
  NoteWithdrawn: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'note.withdrawn',
    subject: { type: 'note', id: data.note_id },
    data: {},
  }),
});
