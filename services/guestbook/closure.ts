import { endWithAuthor, erasedWithAuthor } from '../../domain/guestbook/scheduled-decisions.ts';
import { noteStream } from '../../domain/guestbook/words.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { noteReporters, openReports } from '../../projections/guestbook/note-reports.ts';
import { type NoteToEnd, notesToEnd } from '../../projections/guestbook/notes-of-member.ts';
import { defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';

/** Keeps public notes without a name unless the member asks to erase them; erases all others. */
export const notesClosure = defineAccountClosure({
  find: (memberId, { eraseNotes }, limit) => noteReporters(notesToEnd(memberId, eraseNotes, limit)),
  load(memberId, { eraseNotes }, limit) {
    const notes = notesToEnd(memberId, eraseNotes, limit);
    return { notes, reports: openReports(notes) };
  },
  close(memberId, rows) {
    const reports = Map.groupBy(rows.reports, ({ note_id }) => note_id);
    const isOpen = ({ state }: NoteToEnd) => state === 'pending' || state === 'approved';
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
