import type pg from 'pg';
import { type Sql, sql } from './eventstore/sql.ts';
import type { KeyRing } from './keys.ts';
import { deadline, isUnavailable, StorageUnavailable, withClient } from './postgres.ts';

/** One counter: at most `limit` in each window of `window` (a PostgreSQL interval), on its clock. */
export interface Limit {
  kind: string;
  window: '10 minutes' | '1 day';
  limit: number;
}

export type RateLimits = ReturnType<typeof rateLimits>;

/**
 * Counters that hold across all processes. Each is counted in a transaction of its own, before the
 * command: no command holds a counter's row through its flush. An address is kept as a keyed hash.
 */
export function rateLimits(pool: pg.Pool, keys: KeyRing) {
  const bucketOf = (address: string) => keys.mac('address', 'address', address).hash;

  /** Counts one in every limit, or in none where one of them is used up. */
  async function take(address: string, limits: readonly Limit[]): Promise<boolean> {
    const bucket = bucketOf(address);
    const results = await run(
      pool,
      limits.map((limit) => increment(limit, bucket)),
    );
    const taken = limits.filter((_, index) => results[index]?.rowCount === 1);
    if (taken.length === limits.length) return true;
    if (taken.length > 0)
      await run(
        pool,
        taken.map((limit) => decrement(limit, bucket)),
      );
    return false;
  }

  /** Gives back what `take` counted, where the command came to nothing. */
  async function giveBack(address: string, limits: readonly Limit[]): Promise<void> {
    await run(
      pool,
      limits.map((limit) => decrement(limit, bucketOf(address))),
    );
  }

  return { take, giveBack, bucketOf };
}

/** Losing the last counts in a crash of the database is no loss worth a flush. */
async function run(pool: pg.Pool, statements: readonly Sql[]): Promise<pg.QueryResult[]> {
  try {
    return await withClient(pool, deadline(), async (client) => {
      const [, , ...results] = await Promise.all([
        client.query('BEGIN'),
        client.query('SET LOCAL synchronous_commit = off'),
        ...statements.map((statement) => client.query(statement)),
        client.query('COMMIT'),
      ]);
      return results.slice(0, -1);
    });
  } catch (error) {
    throw isUnavailable(error) ? new StorageUnavailable('counter failed', { cause: error }) : error;
  }
}

function increment({ kind, window, limit }: Limit, bucket: string): Sql {
  return sql`INSERT INTO rate_counters AS counter (kind, bucket, window_start, count)
    SELECT ${kind}, ${bucket}, date_bin(${window}::interval, clock_timestamp(), 'epoch'), 1
    WHERE ${limit}::int > 0
    ON CONFLICT (kind, bucket, window_start) DO UPDATE SET count = counter.count + 1
    WHERE counter.count < ${limit}::int`;
}

function decrement({ kind, window }: Limit, bucket: string): Sql {
  return sql`UPDATE rate_counters SET count = count - 1
    WHERE kind = ${kind} AND bucket = ${bucket} AND count > 0
    AND window_start = date_bin(${window}::interval, clock_timestamp(), 'epoch')`;
}

/** For a limit that a command checks itself, under a lock of its own: the count of this UTC day. */
export function countToday(kind: string, bucket: string): Sql {
  return sql`SELECT count FROM rate_counters WHERE kind = ${kind} AND bucket = ${bucket}
    AND window_start = date_bin('1 day', clock_timestamp(), 'epoch')`;
}

/** Adds one to that count, in the command's transaction. */
export function countOf(kind: string, bucket: string): Sql {
  return sql`INSERT INTO rate_counters AS counter (kind, bucket, window_start, count)
    VALUES (${kind}, ${bucket}, date_bin('1 day', clock_timestamp(), 'epoch'), 1)
    ON CONFLICT (kind, bucket, window_start) DO UPDATE SET count = counter.count + 1`;
}
