import { report } from '../../domain/guestbook/author-decisions.ts';
import { screeningJob } from '../../domain/guestbook/jobs.ts';
import type { NoteCommand } from '../../domain/guestbook/note.ts';
import { noteStream, type ReportReason } from '../../domain/guestbook/words.ts';
import { memberOwner } from '../../domain/owners.ts';
import { type Accepted, type Command, defineCommand } from '../../platform/eventstore/handle.ts';
import type { MemberRead } from '../../platform/eventstore/load.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { locking, named, type Sql, sql } from '../../platform/sql.ts';
import { findMemberReport, reportTotals } from '../../projections/guestbook/note-reports.ts';
import { type NoteRow, ownerOfNote } from '../../projections/guestbook/notes.ts';
import { hasEnded } from '../../projections/membership/members.ts';
import { dropLeases, isLiveLease } from '../publications/review-leases.ts';
import { loadNote } from './note-stream.ts';
import { eraseFormerText } from './scheduled-commands.ts';

/** In the order of a decision, which locks the row before it appends: otherwise they deadlock. */
const lockNote = (id: string): Sql<NoteRow> =>
  locking(
    named(
      `SELECT n.*, CASE WHEN NOT ${hasEnded('n')} THEN n.message END AS message
      FROM notes n WHERE n.note_id = $1 FOR UPDATE`,
      [id],
    ),
  );

const parentOf = (id: string): Sql<NoteRow> =>
  sql`SELECT * FROM notes
    WHERE note_id = (SELECT parent_id FROM notes WHERE note_id = ${id})`;

/**
 * The reporters whose feeds announce what becomes of their reports. A rejection in its undo window
 * has settled reports for moderators only, so these reporters count too.
 */
const reportersOf = (noteId: string): MemberRead =>
  sql`SELECT member_id FROM note_reports WHERE note_id = ${noteId} AND state = 'open'
    UNION SELECT report.member_id FROM note_decisions d
      CROSS JOIN LATERAL (SELECT member_id FROM note_reports
        WHERE settled_by_event = d.event_id OFFSET 0) report
      WHERE d.note_id = ${noteId} AND d.decision = 'rejected' AND d.undone_at IS NULL`;

export type OwnRefusal = 'not_found' | 'state_conflict';

/** Runs an author's command on the author's note: a withdrawal or an appeal. */
export function authorCommand<Reply>(
  noteId: string,
  command: (now: Date) => Extract<NoteCommand, { type: 'WithdrawNote' | 'OpenAppeal' }>,
  reply: Reply,
): Command<Reply, OwnRefusal> {
  return defineCommand({
    find: reportersOf(noteId),
    load: {
      // A withdrawal settles the reports of a rejection in its undo window as well.
      note: loadNote(lockNote(noteId), noteId, { decisions: ['rejected'] }),
    },
    decide({ note }, now) {
      if (!note) return refuse('not_found');
      const decided = note.decide(command(now));
      if (isRefusal(decided)) return decided as Refusal<OwnRefusal>;
      return {
        appends: [decided],
        rows: decided.events.some(({ type }) => type === 'NoteWithdrawn')
          ? [dropLeases('note', [noteId])]
          : [],
        reply: () => reply,
      };
    },
  });
}

/** Those of the notes that a moderator holds. */
export const heldNotes = (ids: readonly string[]): Sql<{ note_id: string }> =>
  named(
    `SELECT note_id FROM note_leases
    WHERE note_id = ANY($1::uuid[]) AND subject_type = 'note' AND ${isLiveLease()}`,
    [ids],
  );

/** Corrects the author's note and erases its former text; replies with the version of the note. */
export function correctCommand<Reply>(
  noteId: string,
  memberId: string,
  message: string,
  undoSeconds: number,
  reply: (version: number) => Reply,
): Command<Reply, OwnRefusal> {
  return defineCommand({
    load: {
      // Claims lock the row too: a claim is seen here, or it reads the new text.
      note: loadNote(lockNote(noteId), noteId),
      held: heldNotes([noteId]),
    },
    decide({ note, held }, now) {
      if (!note) return refuse('not_found');
      const { row, version } = note;
      const decided = note.decide({
        type: 'CorrectNote',
        memberId,
        message,
        current: row.message,
        held: held.length > 0,
        undoSeconds,
        now,
      });
      if (isRefusal(decided)) return decided as Refusal<OwnRefusal>;
      return {
        appends: [decided],
        rows: eraseFormerText(memberOwner(memberId), noteId, version),
        jobs: [screeningJob([noteId])],
        reply: () => reply(version + decided.events.length),
      };
    },
  });
}

export interface Reported {
  reportId: string;
  /** A guest is recognised by keyed hashes of the address, newest key first, for a limited time. */
  reporter: { memberId: string } | { buckets: readonly string[] };
  reason: ReportReason;
  details: string | null;
}

/**
 * Reports a note. Replies with the report's id; a repeated report, which is not new, has the id of the
 * first. Reads rows instead of the note's stream, which may have many reports.
 */
export function reportCommand<Reply, Given>(
  noteId: string,
  reported: Reported,
  reply: (isNew: boolean, reportId: string) => (given: Given) => Reply,
): Command<Reply, 'not_found', unknown, Given> {
  const { reportId, reporter, reason, details } = reported;
  const memberId = 'memberId' in reporter ? reporter.memberId : null;
  const buckets = 'buckets' in reporter ? reporter.buckets : [];
  const [bucket] = buckets;
  return defineCommand({
    load: {
      notes: lockNote(noteId),
      parents: parentOf(noteId),
      known: sql`SELECT note_id FROM report_addresses
        WHERE note_id = ${noteId} AND bucket = ANY(${buckets})`,
      reports: memberId === null ? null : findMemberReport(noteId, memberId),
      totals: reportTotals(noteId),
    },
    decide({
      notes: [row],
      parents: [parent],
      known,
      reports: [former],
      totals: [totals],
    }): Accepted<Reply, Given> | Refusal<'not_found'> {
      if (!row || row.message === null || !totals) return refuse('not_found');
      const { note_id, state: status, experience, parent_id: parentId } = row;
      const reporters = former && memberId ? [memberId] : [];
      const decided = report(
        { noteId: note_id, status, experience, parentId, reporters, ...totals },
        {
          type: 'ReportNote',
          reportId,
          memberId,
          repeated: known.length > 0,
          reason,
          details,
          parent: parent ?? null,
        },
      );
      if (isRefusal(decided)) return refuse('not_found');
      if (decided.length === 0)
        return { appends: [], reply: reply(false, former?.report_id ?? reportId) };
      const events = decided === 'counted' ? [] : decided;
      return {
        appends: [
          { owner: ownerOfNote(row), stream: noteStream(noteId), version: row.version, events },
        ],
        rows: bucket
          ? [
              sql`INSERT INTO report_addresses (note_id, bucket, reported_at)
                VALUES (${noteId}, ${bucket}, clock_timestamp()) ON CONFLICT DO NOTHING`,
            ]
          : [],
        reply: reply(events.length > 0, reportId),
      };
    },
  });
}
