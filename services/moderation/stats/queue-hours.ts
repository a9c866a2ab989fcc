import { named, type Sql, sql } from '../../../platform/sql.ts';
import { queueDepth } from '../../../projections/moderation/review-stats.ts';

/** For how many days the hourly counts of the queue are kept. */
export const QUEUE_HOURS_DAYS = 14;

/** Counts the notes that wait, once an hour: a job that runs again in the same hour changes nothing. */
export function countQueueHour(): Sql<{ waiting: number }> {
  const { text, values } = queueDepth(null);
  return named(
    `INSERT INTO queue_hours (hour, waiting, oldest_seconds)
      SELECT date_trunc('hour', now, 'UTC'), pending, oldest_seconds FROM (${text}) depth
      ON CONFLICT (hour) DO NOTHING RETURNING waiting`,
    values,
  );
}

/** Deletes counts that are older than 14 days: at most as many as 14 days have hours. */
export const dropOldQueueHours = (): Sql =>
  sql`DELETE FROM queue_hours
    WHERE hour < statement_timestamp() - make_interval(days => ${QUEUE_HOURS_DAYS}::int)`;

export interface QueueHourRow {
  hour: Date;
  waiting: number;
  oldest_seconds: number | null;
}

/** Reads the counts of a period, the oldest first. */
export function queueHours(from: Date, to: Date): Sql<QueueHourRow> {
  return sql`SELECT hour, waiting, oldest_seconds FROM queue_hours
    WHERE hour >= ${from} AND hour < ${to} ORDER BY hour`;
}
