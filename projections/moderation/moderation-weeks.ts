import * as noteEvents from '../../domain/guestbook/events.ts';
import { defineBatch } from '../../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { defineProjection } from '../projection.ts';
import type { RecordKind } from '../publications/record-events.ts';
import { decisionMoves } from './decision-figures.ts';

const countAppeal = defineBatch(
  'moderation_weeks',
  { at: 'timestamptz' },
  (given) => `INSERT INTO moderation_weeks AS counts (week, subject, outcome, policy, age, count)
    SELECT date_trunc('week', at AT TIME ZONE 'UTC')::date, 'note', 'appealed', '', -1, count(*)
    FROM ${given} GROUP BY 1 ORDER BY 1
    ON CONFLICT (week, subject, outcome, policy, age)
      DO UPDATE SET count = counts.count + excluded.count`,
);

const deleteEmpty = defineBatch(
  'moderation_weeks',
  { event_id: 'uuid' },
  (given) => `DELETE FROM moderation_weeks WHERE count = 0 AND EXISTS (SELECT FROM ${given})`,
);

const moved = ({ event_id }: { event_id: string }): Sql => deleteEmpty({ event_id });

/**
 * How many decisions and appeals each week has, as public readers see them. `decision-figures`, which
 * must come before, counts the decisions.
 */
export const moderationWeeks = (kinds: readonly RecordKind[]) =>
  defineProjection(noteEvents, {
    name: 'moderation-weeks',
    tables: ['moderation_weeks'],
    on: {
      AppealOpened: ({ recorded_at }) => countAppeal({ at: recorded_at }),
      ...Object.fromEntries(Object.keys(decisionMoves(kinds)).map((type) => [type, moved])),
    },
  });

/** What a week has of one outcome, or its appeals. */
export interface WeekCountRow {
  /** The Monday (UTC) on which the week begins, such as `2026-11-16`. */
  week: string;
  subject: 'note' | 'record';
  outcome: string;
  /** Empty where a decision has no policy. */
  policy: string;
  count: number;
}

export interface WeekAgeRow {
  week: string;
  /** Seconds. */
  median: number;
  p90: number;
}

export interface WeeksRow {
  /** The first week that has a decision or an appeal. */
  first: string | null;
  /** The first week that is not published yet. */
  open: string;
}

/**
 * Finds the weeks to publish: a week is complete once it is over and the undo window of a decision
 * in its last second is, too.
 */
export function publishedWeeks(undoSeconds: number): Sql<WeeksRow> {
  return sql`SELECT (SELECT min(week)::text FROM moderation_weeks) AS first,
    date_trunc('week', (clock_timestamp() - make_interval(secs => ${undoSeconds}))
      AT TIME ZONE 'UTC')::date::text AS open`;
}

/** Counts the decisions and appeals of the weeks from `from` up to, and without, `to`. */
export function countsOfWeeks(from: string, to: string): Sql<WeekCountRow> {
  return sql`SELECT week::text, subject, outcome, policy, sum(count)::int AS count
    FROM moderation_weeks WHERE week >= ${from}::date AND week < ${to}::date
    GROUP BY week, subject, outcome, policy
    ORDER BY week, subject, outcome, policy`;
}

/** Reads how long decisions took in each week from `from` up to, and without, `to`. */
export function agesOfWeeks(from: string, to: string): Sql<WeekAgeRow> {
  return sql`SELECT week::text, (min(age) FILTER (WHERE up_to >= 0.5 * whole))::int AS median,
      (min(age) FILTER (WHERE up_to >= 0.9 * whole))::int AS p90
    FROM (SELECT week, age, sum(count) OVER (PARTITION BY week ORDER BY age) AS up_to,
        sum(count) OVER (PARTITION BY week) AS whole
      FROM (SELECT week, age, sum(count) AS count FROM moderation_weeks
        WHERE week >= ${from}::date AND week < ${to}::date AND age >= 0 GROUP BY week, age) ages) sums
    GROUP BY week ORDER BY week`;
}

/**
 * Finds how long three of four approvals and rejections of notes took at most, in seconds, in the last four
 * weeks that are published.
 */
export function usualAge(undoSeconds: number): Sql<{ age: number | null; decisions: number }> {
  return sql`SELECT (min(age) FILTER (WHERE up_to >= 0.75 * whole))::int AS age,
      coalesce(max(whole), 0)::int AS decisions
    FROM (SELECT age, sum(count) OVER (ORDER BY age) AS up_to, sum(count) OVER () AS whole
      FROM (SELECT age, sum(count) AS count
        FROM (SELECT date_trunc('week', (clock_timestamp() - make_interval(secs => ${undoSeconds}))
            AT TIME ZONE 'UTC')::date AS open) weeks
          CROSS JOIN LATERAL (SELECT age, count FROM moderation_weeks
            WHERE week >= weeks.open - 28 AND week < weeks.open AND subject = 'note'
              AND outcome IN ('approved', 'rejected') AND age >= 0 OFFSET 0) counted
        GROUP BY age) ages) sums`;
}
