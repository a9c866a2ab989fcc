import { named, type Sql, sql } from '../../platform/sql.ts';
import { stays } from '../membership/members.ts';

/** Depth of the review queue. Nothing in this file changes a table. */
export interface DepthRow {
  now: Date;
  pending: number;
  past_due: number;
  oldest_seconds: number | null;
  /** Public notes and records with open reports. */
  reported: number;
}

/**
 * Reads the depth of the queue. A note is past due after 24 hours. Counts no further than `limit`, so that
 * the cost does not grow with the queue; null counts all.
 */
export function queueDepth(limit: number | null): Sql<DepthRow> {
  const count = (rows: string) => `(SELECT count(*)::int FROM (${rows} LIMIT $1::bigint) counted)`;
  const oldest = (of: string) => `FROM (VALUES ('lead'), ('normal')) tiers (tier)
      CROSS JOIN LATERAL (SELECT submitted_at FROM notes
        WHERE state = 'pending' AND tier = tiers.tier ${of}) waiting`;
  return named(
    `SELECT now.at AS now,
      ${count(`SELECT FROM notes WHERE state = 'pending'`)} AS pending,
      ${count(`SELECT ${oldest(`AND submitted_at < now.at - interval '24 hours'`)}`)} AS past_due,
      (SELECT floor(extract(epoch FROM now.at - min(submitted_at)))::int
        ${oldest('ORDER BY submitted_at LIMIT 1')}) AS oldest_seconds,
      ${count(`SELECT FROM notes WHERE state = 'approved' AND reported_at IS NOT NULL`)}
        + ${count(`SELECT FROM reported_records WHERE reported_at IS NOT NULL
          AND ${stays('author_id')}`)} AS reported
    FROM (SELECT clock_timestamp() AS at) now`,
    [limit],
  );
}

export interface ArrivalsRow {
  /** When the hour begins. */
  hour: Date;
  arrivals: number;
}

/**
 * SQL: when the reports from `$1` to `$2` came that found no open report on their record. A report waits until
 * the decision that settled it; after each, `busy_until` is until when one of those before it waits.
 */
const ARRIVED_REPORTS = `WITH reported AS MATERIALIZED (
    SELECT r.subject_type, r.subject_id, r.reported_at, r.report_id,
      CASE WHEN r.state <> 'withdrawn' THEN coalesce(d.decided_at, 'infinity') END AS waits_until
    FROM (SELECT * FROM record_reports
        WHERE reported_at >= $1 AND reported_at < $2 AND state <> 'silent' OFFSET 0) r
      LEFT JOIN LATERAL (SELECT decided_at FROM record_decisions
        WHERE event_id = r.settled_by_event OFFSET 0) d ON true)
  SELECT reported_at FROM (
    SELECT reported_at, max(waits_until) OVER (PARTITION BY subject_type, subject_id
      ORDER BY reported_at, report_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until
    FROM (SELECT * FROM reported
      -- Those from before the period, as one report.
      UNION ALL SELECT subject_type, subject_id, '-infinity', NULL, CASE
        WHEN EXISTS (SELECT FROM (SELECT reported_at AS since FROM reported_records
            WHERE subject_type = subject.subject_type AND subject_id = subject.subject_id OFFSET 0) open
          WHERE since < $1) THEN 'infinity'
        ELSE (SELECT max(decided_at) FROM (SELECT event_id, decided_at FROM record_decisions
            WHERE subject_type = subject.subject_type AND subject_id = subject.subject_id
              AND decided_at > $1 OFFSET 0) d
          CROSS JOIN LATERAL (SELECT FROM (SELECT reported_at FROM record_reports
              WHERE settled_by_event = d.event_id OFFSET 0) settled
            WHERE reported_at < $1 LIMIT 1) before) END
      FROM (SELECT DISTINCT subject_type, subject_id FROM reported) subject) waiting) r
  WHERE reported_at >= $1 AND (busy_until > reported_at) IS NOT TRUE`;

/**
 * Counts arrivals by hour: notes when they were submitted, and records when they were reported
 * while no report was open. A second report on a waiting record is not an arrival.
 */
export function arrivalsByHour(from: Date, to: Date): Sql<ArrivalsRow> {
  return named(
    `SELECT date_trunc('hour', at, 'UTC') AS hour, count(*)::int AS arrivals
    FROM (SELECT submitted_at AS at FROM notes WHERE submitted_at >= $1 AND submitted_at < $2
      UNION ALL (${ARRIVED_REPORTS})) arrived
    GROUP BY 1`,
    [from, to],
  );
}

/**
 * Counts for all decisions, for one UTC day, or for one moderator. `moderator_id` is null in the
 * counts of the service.
 */
export interface DecisionsRow {
  of: 'all' | 'day' | 'moderator';
  day: string | null;
  moderator_id: string | null;
  name: string | null;
  role: string | null;
  decisions: number;
  approved: number;
  rejected: number;
  removed: number;
  overturned: number;
  /** Seconds: p50, p95 and maximum; null without values. */
  age: [number, number, number] | null;
  handling: [number, number, number] | null;
}

/**
 * Age is the time from arrival to the decision on a pending note, or from the oldest report that
 * the decision on a record settled. Handling starts at the claim. Overturned means undone, or
 * followed by the opposite decision.
 */
export function decisionsIn(from: Date, to: Date): Sql<DecisionsRow> {
  return sql`WITH decided AS (
      SELECT (decided_at AT TIME ZONE 'UTC')::date AS day, moderator_id, decision, age, handling,
        overturned
      FROM decision_figures WHERE decided_at >= ${from} AND decided_at < ${to}),
    summed AS (
      SELECT CASE WHEN grouping(day) = 0 THEN 'day' WHEN grouping(moderator_id) = 0 THEN 'moderator'
          ELSE 'all' END AS of,
        to_char(day, 'YYYY-MM-DD') AS day, moderator_id, count(*)::int AS decisions,
        count(*) FILTER (WHERE decision = 'approved')::int AS approved,
        count(*) FILTER (WHERE decision = 'rejected')::int AS rejected,
        count(*) FILTER (WHERE decision = 'removed')::int AS removed,
        count(*) FILTER (WHERE overturned AND decision IN ('approved', 'rejected', 'removed'))::int
          AS overturned,
        percentile_disc(ARRAY[0.5, 0.95, 1]) WITHIN GROUP (ORDER BY age) AS age,
        percentile_disc(ARRAY[0.5, 0.95, 1]) WITHIN GROUP (ORDER BY handling) AS handling
      FROM decided GROUP BY GROUPING SETS ((), (day), (moderator_id)))
    SELECT s.*, m.name, m.role FROM summed s LEFT JOIN moderators m USING (moderator_id)
    ORDER BY s.of, s.day, s.decisions DESC, s.moderator_id`;
}

export interface FindingRow {
  code: string;
  flagged: number;
  confirmed: number;
}

/**
 * Counts for each finding, among the notes decided on in a period, the notes that had the finding
 * (`flagged`) and those of them that are not public (`confirmed`).
 */
export function findingsOfDecided(from: Date, to: Date): Sql<FindingRow> {
  return sql`SELECT code, count(*)::int AS flagged, count(*) FILTER (WHERE confirmed)::int AS confirmed
    FROM (SELECT DISTINCT note_id, findings, confirmed FROM decision_figures
      WHERE decided_at >= ${from} AND decided_at < ${to} AND findings IS NOT NULL
        AND confirmed IS NOT NULL) note, unnest(findings) code
    GROUP BY code ORDER BY code`;
}
