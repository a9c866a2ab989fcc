import { type Sql, sql } from '../sql.ts';

/** At most `limit` requests per `window` (a PostgreSQL interval), by the database's clock. */
export interface Limit {
  kind: string;
  window: '10 minutes' | '1 hour' | '1 day';
  limit: number;
  /** Set for a limit of all callers together; any other is one of the caller's address. */
  scope?: 'service';
}

/** A request to count in each of its limits, unless `unless` selects a row. */
export interface CountRequest {
  bucket: string;
  limits: readonly Limit[];
  /** A read by one key of type text. */
  unless?: Sql | undefined;
}

/** A limit that counted a bucket's requests; or, if `bucket` is null, a key that `unless` found. */
export interface CountedRow {
  bucket: string | null;
  kind: string;
  key: string | null;
  /** The bucket's requests in the window, these included, and the seconds until the window ends. */
  count: number | null;
  resets_in: number | null;
}

/** The key of the request's `unless` read; null without one. */
export const counterKey = ({ unless }: CountRequest) =>
  (unless?.values[0] ?? null) as string | null;

/**
 * Counts requests with the same limits and the same `unless` in one statement, which locks counters
 * in bucket order to avoid deadlocks. If a limit lacks room for all requests of a bucket, neither
 * this limit nor the later ones count any of them, so a refused request never uses up a later
 * limit.
 *
 * Run it outside of a command's transaction: it turns synchronous commit off for its transaction,
 * since losing the latest counts when the database crashes is not worth a flush.
 */
export function increments(asked: readonly CountRequest[]): Sql {
  const [{ limits = [], unless } = {}] = asked;
  // A scalar subquery rather than EXISTS, for which the planner might read all rows into a hash.
  const known = unless
    ? `(SELECT true FROM (${unless.text.replaceAll('$1', 'asker.key')}) row LIMIT 1) IS NOT NULL`
    : 'false';
  const text = `WITH asked AS MATERIALIZED (
      SELECT bucket, key, ${known} AS known
      FROM unnest($1::text[], $2::text[]) AS asker (bucket, key)),
    ${limits.map((_, turn) => countedIn(turn)).join(', ')}
    ${limits.map((_, turn) => `SELECT bucket, kind, NULL AS key, count, resets_in FROM counted_${turn}`).join(' UNION ALL ')}
    UNION ALL SELECT NULL, NULL, key, NULL, NULL FROM asked WHERE known`;
  const values = [
    asked.map(({ bucket }) => bucket),
    asked.map(counterKey),
    ...limits.flatMap(({ kind, window, limit }) => [kind, window, limit]),
  ];
  return { name: `count-${limits.length}-${unless?.name}`, text, values };
}

/** Counts in one limit: all requests, or those of the buckets that the limit before it counted. */
function countedIn(turn: number): string {
  const [kind, span, most] = [3, 4, 5].map((place) => `$${place + 3 * turn}`);
  const open = turn === 0 ? '' : `AND bucket IN (SELECT bucket FROM counted_${turn - 1})`;
  return `counted_${turn} AS (
      INSERT INTO rate_counters AS counter (kind, bucket, window_start, count)
      SELECT ${kind}::text, bucket, date_bin(${span}::text::interval, statement_timestamp(), 'epoch'),
        count(*)
      FROM asked, set_config('synchronous_commit', 'off', true)
      WHERE NOT known ${open}
      GROUP BY bucket HAVING count(*) <= ${most}::int
      ORDER BY bucket COLLATE "C"
      ON CONFLICT (kind, bucket, window_start) DO UPDATE SET count = counter.count + excluded.count
      WHERE counter.count + excluded.count <= ${most}::int
      RETURNING bucket, kind, count, ceil(extract(epoch FROM
        window_start + ${span}::text::interval - statement_timestamp()))::int AS resets_in)`;
}

/** Subtracts `count` from a counter in its current window, without waiting for a flush. */
export function decrement({ kind, window }: Limit, bucket: string, count: number): Sql {
  return sql`UPDATE rate_counters SET count = greatest(0, count - ${count})
    FROM set_config('synchronous_commit', 'off', true)
    WHERE kind = ${kind} AND bucket = ${bucket}
    AND window_start = date_bin(${window}::interval, clock_timestamp(), 'epoch')`;
}

/** A limit with the bucket that it counts in. */
export interface BucketLimit extends Limit {
  bucket: string;
}

/** Finds the limits that are used up, for a command that checks them under its own lock. */
export function exhaustedLimits(limits: readonly BucketLimit[]): Sql<{ kind: string }> {
  return sql`SELECT c.kind FROM rate_counters c
    JOIN unnest(${limits.map(({ kind }) => kind)}::text[], ${limits.map(({ bucket }) => bucket)}::text[],
      ${limits.map(({ window }) => window)}::text[], ${limits.map(({ limit }) => limit)}::int[])
      AS asked (kind, bucket, span, most) ON c.kind = asked.kind AND c.bucket = asked.bucket
    WHERE c.window_start = date_bin(asked.span::interval, clock_timestamp(), 'epoch')
      AND c.count >= asked.most`;
}

/** Adds one to the counter of a limit, in the command's transaction. */
export function countOne({ kind, bucket, window }: BucketLimit): Sql {
  return sql`INSERT INTO rate_counters AS counter (kind, bucket, window_start, count)
    VALUES (${kind}, ${bucket}, date_bin(${window}::interval, clock_timestamp(), 'epoch'), 1)
    ON CONFLICT (kind, bucket, window_start) DO UPDATE SET count = counter.count + 1`;
}
