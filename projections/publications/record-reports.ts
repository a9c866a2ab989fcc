import { REPORT_REASONS } from '../../domain/guestbook/words.ts';
import * as membershipEvents from '../../domain/membership/events.ts';
import type { RecordType } from '../../domain/publications/words.ts';
import * as reportEvents from '../../domain/reports/events.ts';
import { START_OLDEST } from '../../platform/keyset-cursor.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { locking, named, type Sql, sql } from '../../platform/sql.ts';
import { defineProjection } from '../projection.ts';
import { type RecordKind, recordHandlers } from './record-events.ts';

const events = {
  ...reportEvents,
  MemberDeactivated: membershipEvents.MemberDeactivated,
} as const;

const insertReport = defineInsert('record_reports', {
  report_id: 'uuid',
  subject_type: 'text',
  subject_id: 'uuid',
  author_id: 'uuid',
  member_id: 'uuid',
  reason: 'text',
  details: 'text',
  state: 'text',
  reported_at: 'timestamptz',
});

const writeReported = defineInsert(
  'reported_records',
  {
    subject_type: 'text',
    subject_id: 'uuid',
    author_id: 'uuid',
    reported_at: 'timestamptz',
    version: 'int',
  },
  {
    key: ['subject_type', 'subject_id'],
    conflict: `DO UPDATE SET version = excluded.version,
      reported_at = coalesce(reported_records.reported_at, excluded.reported_at)`,
  },
);

/** Reports on published records, and which records wait for a moderator. */
export const recordReports = (kinds: readonly RecordKind[]) =>
  defineProjection(events, {
    name: 'record-reports',
    tables: ['record_reports', 'reported_records'],
    texts: [{ table: 'record_reports', columns: ['details'], member: 'member_id' }],
    on: {
      RecordReported: ({ owner_id, stream_version, data, personal, recorded_at }) => [
        insertReport({
          report_id: data.report_id,
          subject_type: data.subject.type,
          subject_id: data.subject.id,
          author_id: owner_id,
          member_id: data.member_id,
          reason: data.reason,
          details: personal?.details,
          state: data.silent ? 'silent' : 'open',
          reported_at: recorded_at,
        }),
        writeReported({
          subject_type: data.subject.type,
          subject_id: data.subject.id,
          author_id: owner_id,
          reported_at: data.silent ? null : recorded_at,
          version: stream_version,
        }),
      ],
      RecordReportsDismissed: ({ event_id, stream_version, data, recorded_at }) => [
        sql`UPDATE record_reports SET state = 'kept', settled_by_event = ${event_id},
          told_at = ${recorded_at}
        WHERE report_id IN (SELECT unnest(${data.reports.map(({ report_id }) => report_id)}::uuid[]))`,
        waitsFor(data.subject, stream_version),
      ],
      RecordReportsResolved: ({ stream_version, data, recorded_at }) => [
        sql`UPDATE record_reports SET state = ${data.outcome}, told_at = ${recorded_at}
        WHERE report_id IN (SELECT unnest(${data.reports.map(({ report_id }) => report_id)}::uuid[]))`,
        waitsFor(data.subject, stream_version),
      ],
      ...recordHandlers(kinds, {
        removed: ({ event_id }, type, id) => removed(type, id, event_id),
        restored: ({ data }, type, id) =>
          restored(type, id, data as { of: string; undone: boolean }),
        withdrawn: (_event, type, id) => withdrawn(type, id),
      }),
      // In an earlier release: the same for all records of the member.
      MemberDeactivated: ({ owner_id, data }) =>
        data.in_batches
          ? []
          : [
              sql`UPDATE record_reports SET state = 'withdrawn', settled_by_event = NULL
              WHERE author_id = ${owner_id} AND told_at IS NULL AND state IN ('open', 'removed')`,
              sql`UPDATE reported_records SET reported_at = NULL
              WHERE author_id = ${owner_id} AND reported_at IS NOT NULL`,
            ],
    },
  });

/** Sets the version of a record's reports, and since when the oldest open one waits. */
const waitsFor = ({ type, id }: { type: string; id: string }, version: number): Sql =>
  sql`UPDATE reported_records SET version = ${version},
      reported_at = (SELECT min(reported_at) FROM record_reports
        WHERE subject_type = ${type} AND subject_id = ${id} AND state = 'open' AND told_at IS NULL)
    WHERE subject_type = ${type} AND subject_id = ${id}`;

function removed(type: RecordType, id: string, eventId: string): Sql[] {
  return [
    sql`UPDATE record_reports SET state = 'removed', settled_by_event = ${eventId}
      WHERE subject_type = ${type} AND subject_id = ${id} AND state = 'open' AND told_at IS NULL`,
    nothingWaits(type, id),
  ];
}

function nothingWaits(type: RecordType, id: string): Sql {
  return sql`UPDATE reported_records SET reported_at = NULL
    WHERE subject_type = ${type} AND subject_id = ${id}`;
}

/**
 * After an undo, the reports are open again in their old position; after a restoration by another
 * moderator, they stay settled.
 */
function restored(type: RecordType, id: string, data: { of: string; undone: boolean }): Sql[] {
  if (!data.undone) return [];
  return [
    sql`UPDATE record_reports SET state = 'open', settled_by_event = NULL, told_at = NULL
      WHERE settled_by_event = ${data.of}`,
    sql`UPDATE reported_records SET reported_at = (SELECT min(reported_at) FROM record_reports
        WHERE subject_type = ${type} AND subject_id = ${id} AND state = 'open' AND told_at IS NULL)
      WHERE subject_type = ${type} AND subject_id = ${id}`,
  ];
}

function withdrawn(type: RecordType, id: string): Sql[] {
  return [
    sql`UPDATE record_reports SET state = 'withdrawn', settled_by_event = NULL
      WHERE subject_type = ${type} AND subject_id = ${id} AND told_at IS NULL
        AND state IN ('open', 'removed')`,
    nothingWaits(type, id),
  ];
}

export interface RecordReportRow {
  report_id: string;
  member_id: string;
  reason: string;
  details: string | null;
  state: 'open' | 'kept' | 'removed' | 'withdrawn' | 'silent';
  reported_at: Date;
  settled_by_event: string | null;
}

/** Finds a member's report on a record. */
export function findRecordReport(
  type: RecordType,
  id: string,
  memberId: string,
): Sql<{ report_id: string }> {
  return sql`SELECT report_id FROM record_reports
    WHERE subject_type = ${type} AND subject_id = ${id} AND member_id = ${memberId}`;
}

/** The version of a record's stream of reports, and the reasons that a moderator dismissed. */
export function reportsOn(
  type: RecordType,
  id: string,
): Sql<{ version: number; dismissed: string[] }> {
  return sql`SELECT coalesce((SELECT version FROM reported_records
      WHERE subject_type = ${type} AND subject_id = ${id}), 0) AS version,
    ARRAY(SELECT reason FROM unnest(${REPORT_REASONS}::text[]) given (reason)
      WHERE EXISTS (SELECT FROM record_decisions d
        CROSS JOIN LATERAL (SELECT FROM record_reports r
          WHERE r.settled_by_event = d.event_id AND r.reason = given.reason LIMIT 1) dismissed
        WHERE d.subject_type = ${type} AND d.subject_id = ${id} AND d.decision = 'kept')) AS dismissed`;
}

/** Reads reports whose reporters were not notified of the outcome yet. */
export function untoldReports(type: RecordType, id: string): Sql<RecordReportRow> {
  return sql`SELECT * FROM record_reports WHERE subject_type = ${type} AND subject_id = ${id}
    AND told_at IS NULL AND state <> 'silent' ORDER BY reported_at, report_id`;
}

/** Members who reported a record and were not notified of the outcome yet. */
export function untoldReporters(type: RecordType, id: string): Sql<{ member_id: string }> {
  return sql`SELECT member_id FROM record_reports
    WHERE subject_type = ${type} AND subject_id = ${id} AND told_at IS NULL AND state <> 'silent'`;
}

export interface ReportedCaseNote {
  note_id: string;
  /** Of the stream of its reports. */
  version: number;
  reports: { report_id: string; member_id: string }[];
}

/** The case notes of a member that wait for a moderator, with their open reports; at most `limit`. */
export function reportedCaseNotesOf(memberId: string, limit: number): Sql<ReportedCaseNote> {
  return named(
    `SELECT w.subject_id AS note_id, w.version, r.reports
    FROM (SELECT subject_id, version FROM reported_records
      WHERE author_id = $1 AND subject_type = 'case_note' AND reported_at IS NOT NULL
      ORDER BY subject_id LIMIT $2) w
    CROSS JOIN LATERAL (SELECT jsonb_agg(jsonb_build_object('report_id', report_id, 'member_id',
        member_id) ORDER BY reported_at, report_id) AS reports
      FROM record_reports WHERE subject_type = 'case_note' AND subject_id = w.subject_id
        AND state = 'open' AND told_at IS NULL OFFSET 0) r`,
    [memberId, limit],
  );
}

/** The members who wait for the outcome of those reports. */
export function reportersOfCaseNotes(memberId: string, limit: number): Sql<{ member_id: string }> {
  return named(
    `SELECT r.member_id FROM (SELECT subject_id FROM reported_records
      WHERE author_id = $1 AND subject_type = 'case_note' AND reported_at IS NOT NULL
      ORDER BY subject_id LIMIT $2) w
    CROSS JOIN LATERAL (SELECT member_id FROM record_reports WHERE subject_type = 'case_note'
      AND subject_id = w.subject_id AND state = 'open' AND told_at IS NULL OFFSET 0) r`,
    [memberId, limit],
  );
}

/** Locks reported records, so that reviews and claims wait: claims are no events, so no version conflict stops them. */
export function heldRecords(type: RecordType, ids: readonly string[]): Sql {
  return locking(sql`SELECT subject_id FROM reported_records
    WHERE subject_type = ${type} AND subject_id = ANY(${ids}::uuid[])
    ORDER BY subject_id FOR UPDATE`);
}

/**
 * Records that their author withdrew while reports were open, and whose reporters await the
 * outcome; and reported case notes that disappeared with the author of the case.
 */
export function withdrawnReported(limit: number): Sql<{ type: RecordType; id: string }> {
  return sql`(SELECT DISTINCT subject_type AS type, subject_id AS id FROM record_reports
      WHERE state = 'withdrawn' AND told_at IS NULL LIMIT ${limit})
    UNION (SELECT r.subject_type, r.subject_id FROM reported_records r
      JOIN case_notes n ON n.note_id = r.subject_id JOIN cases c ON c.case_id = n.case_id
      WHERE r.reported_at IS NOT NULL AND r.subject_type = 'case_note'
        AND n.state = 'published' AND c.author_gone LIMIT ${limit})`;
}

export interface ReportOfMember {
  report_id: string;
  subject_type: string;
  subject_id: string;
  reason: string;
  details: string | null;
  reported_at: Date;
  /** `reported_at` to the microsecond. */
  at: string;
}

/** Reads a member's reports on notes and records after `last`, oldest first; at most `limit`. */
export function reportsOfMember(
  memberId: string,
  last: Pick<ReportOfMember, 'at' | 'report_id'> | undefined,
  limit: number,
): Sql<ReportOfMember> {
  const { at = START_OLDEST.at, report_id: id = START_OLDEST.id } = last ?? {};
  return sql`SELECT *, reported_at::text AS at FROM (
      (SELECT report_id, 'note' AS subject_type, note_id AS subject_id, reason, details, reported_at
        FROM note_reports WHERE member_id = ${memberId}
          AND (reported_at, report_id) > (${at}::timestamptz, ${id}::uuid)
        ORDER BY reported_at, report_id LIMIT ${limit})
      UNION ALL
      (SELECT report_id, subject_type, subject_id, reason, details, reported_at
        FROM record_reports WHERE member_id = ${memberId}
          AND (reported_at, report_id) > (${at}::timestamptz, ${id}::uuid)
        ORDER BY reported_at, report_id LIMIT ${limit})) r
    ORDER BY reported_at, report_id LIMIT ${limit}`;
}
