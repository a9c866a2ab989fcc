import { MAX_OPEN_REPORTS } from '../../domain/guestbook/author-decisions.ts';
import * as events from '../../domain/guestbook/events.ts';
import { REPORT_REASONS } from '../../domain/guestbook/words.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { defineProjection } from '../projection.ts';

function settle(noteId: string, state: ReportRow['state'], eventId: string): Sql {
  return sql`UPDATE note_reports SET state = ${state}, settled_by_event = ${eventId}
    WHERE note_id = ${noteId} AND state = 'open'`;
}

const idsOf = (reports: readonly Pick<ReportRow, 'report_id'>[]): string[] =>
  reports.map(({ report_id }) => report_id);

const insertReport = defineInsert('note_reports', {
  report_id: 'uuid',
  note_id: 'uuid',
  member_id: 'uuid',
  reason: 'text',
  details: 'text',
  state: 'text',
  reported_at: 'timestamptz',
});

/** Reports on notes: by whom and why. */
export const noteReports = defineProjection(events, {
  name: 'note-reports',
  tables: ['note_reports'],
  texts: [{ table: 'note_reports', columns: ['details'], member: 'member_id' }],
  on: {
    NoteReported: ({ data, personal, recorded_at }) =>
      insertReport({
        report_id: data.report_id,
        note_id: data.note_id,
        member_id: data.member_id,
        reason: data.reason,
        details: personal?.details,
        state: data.silent ? 'silent' : 'open',
        reported_at: recorded_at,
      }),
    ReportsDismissed: ({ event_id, data }) =>
      sql`UPDATE note_reports SET state = 'kept', settled_by_event = ${event_id}
        WHERE report_id IN (SELECT unnest(${idsOf(data.reports)}::uuid[]))`,
    // Settles reports from the time when the note was public, before its approval was undone.
    NoteRejected: ({ event_id, data }) => settle(data.note_id, 'removed', event_id),
    NoteRemoved: ({ event_id, data }) => settle(data.note_id, 'removed', event_id),
    // Includes reports that a rejection settled before anyone was notified of the rejection.
    NoteWithdrawn: ({ event_id, data }) =>
      sql`UPDATE note_reports SET state = 'withdrawn', settled_by_event = ${event_id}
        WHERE report_id IN (SELECT unnest(${idsOf(data.reports)}::uuid[]))`,
    DecisionUndone: ({ data }) =>
      data.refused
        ? sql`UPDATE note_reports SET state = 'removed', settled_by_event = ${data.refused.of}
            WHERE report_id IN (SELECT unnest(${idsOf(data.reports ?? [])}::uuid[]))`
        : sql`UPDATE note_reports SET state = 'open', settled_by_event = NULL
            WHERE note_id = ${data.note_id} AND settled_by_event = ${data.of}`,
    DecisionTold: ({ data }) =>
      data.outcome === 'overturned'
        ? sql`UPDATE note_reports SET state = 'kept'
            WHERE report_id IN (SELECT unnest(${idsOf(data.reports)}::uuid[]))`
        : [],
    NoteErased: ({ data }) =>
      sql`UPDATE note_reports SET details = NULL WHERE note_id = ${data.note_id}`,
  },
});

export interface ReportRow {
  report_id: string;
  note_id: string;
  member_id: string | null;
  reason: string;
  details: string | null;
  state: 'open' | 'kept' | 'removed' | 'withdrawn' | 'silent';
  reported_at: Date;
}

/** Finds a member's report on a note. */
export function findMemberReport(noteId: string, memberId: string): Sql<ReportRow> {
  return sql`SELECT * FROM note_reports WHERE note_id = ${noteId} AND member_id = ${memberId}::uuid`;
}

export interface ReportTotals {
  /** At most `MAX_OPEN_REPORTS`, from which on a guest's report is only counted; the same below. */
  open: number;
  silentOfGuests: number;
  /** Reasons that a moderator has reviewed and dismissed. */
  dismissed: string[];
}

/**
 * Counts the reports on a note as far as they decide on the next one, and finds the reasons of those that
 * a moderator dismissed. A dismissal counts once it was announced: before that it can be undone, and no
 * reporter may learn of it.
 */
export function reportTotals(noteId: string): Sql<ReportTotals> {
  return sql`SELECT (SELECT count(*)::int FROM (SELECT FROM note_reports
        WHERE note_id = ${noteId} AND state = 'open' LIMIT ${MAX_OPEN_REPORTS}) reports) AS open,
      (SELECT count(*)::int FROM (SELECT FROM note_reports
        WHERE note_id = ${noteId} AND state = 'silent' AND member_id IS NULL
        LIMIT ${MAX_OPEN_REPORTS}) reports) AS "silentOfGuests",
      ARRAY(SELECT reason FROM unnest(${REPORT_REASONS}::text[]) given (reason)
        WHERE EXISTS (SELECT FROM note_decisions d
          CROSS JOIN LATERAL (SELECT FROM note_reports r
            WHERE r.settled_by_event = d.event_id AND r.reason = given.reason LIMIT 1) dismissed
          WHERE d.note_id = ${noteId} AND d.decision = 'kept' AND d.told_at IS NOT NULL)) AS dismissed`;
}

export type OpenReport = Pick<ReportRow, 'note_id' | 'report_id' | 'member_id'>;

/** Reads the open reports on the notes whose ids `noteIds` selects. */
export function openReports(noteIds: Sql): Sql<OpenReport> {
  return {
    name: `open-reports-${noteIds.name}`,
    text: `SELECT note_id, report_id, member_id FROM note_reports
      WHERE state = 'open' AND note_id IN (SELECT note_id FROM (${noteIds.text}) n)
      ORDER BY reported_at, report_id`,
    values: noteIds.values,
  };
}

/** Members with an open report on one of those notes. */
export function noteReporters(noteIds: Sql): Sql<{ member_id: string | null }> {
  const reports = openReports(noteIds);
  return { ...reports, name: `reporters-${noteIds.name}` };
}
