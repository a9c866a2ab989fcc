import { openReports, type ReportRow, reportersOf } from '../../projections/note-reports.ts';
import { type NoteToEnd, notesToEnd } from '../../projections/notes-of-member.ts';
import { CLOSING_BATCH, type Closing, type ClosingRows } from '../closing.ts';
import { sql } from '../eventstore/sql.ts';
import { endWithAuthor, erasedWithAuthor } from './upkeep.ts';

type Report = Pick<ReportRow, 'note_id' | 'report_id' | 'member_id'>;

const ended = (rows: ClosingRows) => rows[0] as unknown as NoteToEnd[];

/** A public note stays, under no name, unless the member wants it gone; every other one is erased. */
export const notesClosing: Closing = {
  lock: reportersOf,
  load(memberId, { eraseNotes }) {
    const toEnd = notesToEnd(memberId, eraseNotes, CLOSING_BATCH);
    return [toEnd, openReports(toEnd)];
  },
  close(memberId, rows) {
    const reports = Map.groupBy(rows[1] as unknown as Report[], ({ note_id }) => note_id);
    return ended(rows).map(({ note_id, version, open }) => ({
      owner: memberId,
      stream: `note-${note_id}`,
      version,
      actor: { type: 'member', id: memberId },
      events: open
        ? endWithAuthor(note_id, reports.get(note_id) ?? [])
        : [erasedWithAuthor(note_id)],
    }));
  },
  rows: (_memberId, rows) => [
    sql`DELETE FROM note_leases
      WHERE note_id = ANY(${ended(rows).map(({ note_id }) => note_id)}::uuid[]) AND subject_type = 'note'`,
  ],
};
