import { noteReporters, openReports } from '../../projections/guestbook/note-reports.ts';
import { notesToEnd } from '../../projections/guestbook/notes-of-member.ts';
import { CLOSURE_BATCH, defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { endWithAuthor, erasedWithAuthor } from './scheduled-decisions.ts';

/** Keeps public notes without a name unless the member asks to erase them; erases all others. */
export const notesClosure = defineAccountClosure({
  find: noteReporters,
  load(memberId, { eraseNotes }) {
    const toEnd = notesToEnd(memberId, eraseNotes, CLOSURE_BATCH);
    return { notes: toEnd, reports: openReports(toEnd) };
  },
  close(memberId, rows) {
    const reports = Map.groupBy(rows.reports, ({ note_id }) => note_id);
    return rows.notes.map(({ note_id, version, open }) => ({
      owner: memberId,
      stream: `note-${note_id}`,
      version,
      actor: { type: 'member', id: memberId },
      events: open
        ? endWithAuthor(note_id, reports.get(note_id) ?? [])
        : [erasedWithAuthor(note_id)],
    }));
  },
  rows: (_memberId, { notes }) => [
    dropLeases(
      'note',
      notes.map(({ note_id }) => note_id),
    ),
  ],
});
