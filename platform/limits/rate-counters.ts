import { type Sql, sql } from '../sql.ts';

/** One counter: at most `limit` in each window of `window` (a PostgreSQL interval), on its clock. */
export interface Limit {
  kind: string;
  window: '10 minutes' | '1 day';
  limit: number;
}

/** What one is to be counted under, in each of its limits, but where `unless` selects a row. */
export interface Asked {
  bucket: string;
  limits: readonly Limit[];
  /** A read by one key, a text. */
  unless?: Sql | undefined;
}

/** A kind with room for all that were asked for a bucket; or, without one, a key that `unless` found. */
export interface CountedRow {
  bucket: string | null;
  kind: string;
  key: string | null;
}

export const keyOf = ({ unless }: Asked) => (unless?.values[0] ?? null) as string | null;

/**
 * Counts many of the same limits and the same `unless`, in one order of rows everywhere. A bucket
 * without room for all of its own in one limit counts none of them there, nor in those after it: what
 * one limit refuses takes no room in the next, not even until it is given back. Its transaction is
 * never a command's: losing the last counts in a crash of the database is no loss worth a flush, and
 * the setting ends with the transaction.
 */
export function increments(asked: readonly Asked[]): Sql {
  const [{ limits = [], unless } = {}] = asked;
  // A value, and not EXISTS, for which all rows might be read into a hash.
  const known = unless
    ? `(SELECT true FROM (${unless.text.replaceAll('$1', 'asker.key')}) row LIMIT 1) IS NOT NULL`
    : 'false';
  const text = `WITH asked AS MATERIALIZED (
      SELECT bucket, key, ${known} AS known
      FROM unnest($1::text[], $2::text[]) AS asker (bucket, key)),
    ${limits.map((_, turn) => countedIn(turn)).join(', ')}
    ${limits.map((_, turn) => `SELECT bucket, kind, NULL AS key FROM counted_${turn}`).join(' UNION ALL ')}
    UNION ALL SELECT NULL, NULL, key FROM asked WHERE known`;
  const values = [
    asked.map(({ bucket }) => bucket),
    asked.map(keyOf),
    ...limits.flatMap(({ kind, window, limit }) => [kind, window, limit]),
  ];
  return { name: `count-${limits.length}-${unless?.name}`, text, values };
}

/** Those counted in one limit: of all who ask, or of those that the limit before it has room for. */
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
      RETURNING bucket, kind)`;
}

/** Takes back some of what was counted. */
export function decrement({ kind, window }: Limit, bucket: string, count: number): Sql {
  return sql`UPDATE rate_counters SET count = greatest(0, count - ${count})
    WHERE kind = ${kind} AND bucket = ${bucket}
    AND window_start = date_bin(${window}::interval, clock_timestamp(), 'epoch')`;
}

/** For a limit that a command checks itself, under a lock of its own: the count of this UTC day. */
export function countToday(kind: string, bucket: string): Sql<{ count: number }> {
  return sql`SELECT count FROM rate_counters WHERE kind = ${kind} AND bucket = ${bucket}
    AND window_start = date_bin('1 day', clock_timestamp(), 'epoch')`;
}

/** Adds one to that count, in the command's transaction. */
export function countOne(kind: string, bucket: string): Sql {
  return sql`INSERT INTO rate_counters AS counter (kind, bucket, window_start, count)
    VALUES (${kind}, ${bucket}, date_bin('1 day', clock_timestamp(), 'epoch'), 1)
    ON CONFLICT (kind, bucket, window_start) DO UPDATE SET count = counter.count + 1`;
}
