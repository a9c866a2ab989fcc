import { openReports, type ReportRow, reportersOf } from '../../projections/note-reports.ts';
import { type NoteRow, notesToEnd } from '../../projections/notes.ts';
import { CLOSING_BATCH, type Closing, type ClosingRows } from '../closing.ts';
import type { NewEvent } from '../eventstore/event.ts';
import { sql } from '../eventstore/sql.ts';
import type * as events from './events.ts';

type Note = Pick<NoteRow, 'note_id' | 'state' | 'version'>;
type Ending = NewEvent<(typeof events)['NoteWithdrawn' | 'NoteErased']>;

type Report = Pick<ReportRow, 'note_id' | 'report_id' | 'member_id'>;

const ended = (rows: ClosingRows) => rows[0] as unknown as Note[];

/** A public note stays, under no name, unless the member wants it gone; every other one is erased. */
export const notesClosing: Closing = {
  lock: reportersOf,
  load(memberId, { eraseNotes }) {
    const toEnd = notesToEnd(memberId, eraseNotes, CLOSING_BATCH);
    return [toEnd, openReports(toEnd)];
  },
  close(memberId, rows) {
    const reports = Map.groupBy(rows[1] as unknown as Report[], ({ note_id }) => note_id);
    return ended(rows).map(({ note_id, state, version }) => ({
      owner: memberId,
      stream: `note-${note_id}`,
      version,
      actor: { type: 'member', id: memberId },
      events: ending(note_id, state, reports.get(note_id) ?? []),
    }));
  },
  rows: (_memberId, rows) => [
    sql`DELETE FROM note_leases
      WHERE note_id = ANY(${ended(rows).map(({ note_id }) => note_id)}::uuid[]) AND subject_type = 'note'`,
  ],
};

function ending(note_id: string, state: NoteRow['state'], open: readonly Report[]): Ending[] {
  const erased: Ending = {
    type: 'NoteErased',
    data: { note_id, cause: 'account_deletion' },
    personal: null,
  };
  if (state !== 'pending' && state !== 'approved') return [erased];
  const reports = open.map(({ report_id, member_id }) => ({ report_id, member_id }));
  return [{ type: 'NoteWithdrawn', data: { note_id, reports }, personal: null }, erased];
}
