import { openReports, type ReportRow, reportersOf } from '../../projections/note-reports.ts';
import { type NoteToEnd, notesToEnd } from '../../projections/notes.ts';
import { CLOSING_BATCH, type Closing, type ClosingRows } from '../closing.ts';
import type { NewEvent } from '../eventstore/event.ts';
import { sql } from '../eventstore/sql.ts';
import type * as events from './events.ts';

type Ending = NewEvent<(typeof events)['NoteWithdrawn' | 'NoteErased']>;

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
      events: ending(note_id, open ? (reports.get(note_id) ?? []) : null),
    }));
  },
  rows: (_memberId, rows) => [
    sql`DELETE FROM note_leases
      WHERE note_id = ANY(${ended(rows).map(({ note_id }) => note_id)}::uuid[]) AND subject_type = 'note'`,
  ],
};

/** `reports` are those that wait on a note that is not settled yet. */
function ending(note_id: string, reports: readonly Report[] | null): Ending[] {
  const erased: Ending = {
    type: 'NoteErased',
    data: { note_id, cause: 'account_deletion' },
    personal: null,
  };
  if (!reports) return [erased];
  const settled = reports.map(({ report_id, member_id }) => ({ report_id, member_id }));
  return [{ type: 'NoteWithdrawn', data: { note_id, reports: settled }, personal: null }, erased];
}
