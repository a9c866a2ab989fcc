import { memberOwner } from '../../platform/eventstore/owner.ts';
import { noteReporters, openReports } from '../../projections/guestbook/note-reports.ts';
import {
  type NoteToEnd,
  notesToEnd,
  notesWithdrawnEarly,
} from '../../projections/guestbook/notes-of-member.ts';
import { CLOSURE_BATCH, defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { endWithAuthor, erasedWithAuthor } from './scheduled-decisions.ts';
import { noteStream } from './streams.ts';

/** Keeps public notes without a name unless the member asks to erase them; erases all others. */
export const notesClosure = defineAccountClosure({
  find: noteReporters,
  load(memberId, { eraseNotes }) {
    const toEnd = notesToEnd(memberId, eraseNotes, CLOSURE_BATCH);
    return {
      notes: toEnd,
      early: notesWithdrawnEarly(memberId, CLOSURE_BATCH),
      reports: openReports(toEnd),
    };
  },
  close(memberId, rows) {
    const reports = Map.groupBy(rows.reports, ({ note_id }) => note_id);
    const early = new Set(rows.early.map(({ note_id }) => note_id));
    // Pending or public until now, by its own stream.
    const isOpen = ({ note_id, state }: NoteToEnd) =>
      state === 'pending' || state === 'approved' || early.has(note_id);
    return rows.notes.map((row) => ({
      owner: memberOwner(memberId),
      stream: noteStream(row.note_id),
      version: row.version,
      actor: { type: 'member', id: memberId },
      events: isOpen(row)
        ? endWithAuthor(
            row.note_id,
            (reports.get(row.note_id) ?? []).map(({ report_id, member_id }) => ({
              report_id,
              member_id,
            })),
          )
        : [erasedWithAuthor(row.note_id)],
    }));
  },
  rows: (_memberId, { notes }) => [
    dropLeases(
      'note',
      notes.map(({ note_id }) => note_id),
    ),
  ],
});
