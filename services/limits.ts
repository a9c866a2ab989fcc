import type pg from 'pg';
import { openGroup } from './eventstore/group.ts';
import { type Sql, sql } from './eventstore/sql.ts';
import type { KeyRing } from './keys.ts';
import { pipeline } from './pipeline.ts';
import { deadline, isUnavailable, patiently, StorageUnavailable, withClient } from './postgres.ts';

/** One counter: at most `limit` in each window of `window` (a PostgreSQL interval), on its clock. */
export interface Limit {
  kind: string;
  window: '10 minutes' | '1 day';
  limit: number;
}

/** Addresses whose hash is remembered, all of them forgotten at once. */
const MOST_KNOWN = 1000;

interface Counting {
  statement: Sql;
  order: string;
  until: number;
}

export type RateLimits = ReturnType<typeof rateLimits>;

/**
 * Counters that hold across all processes. Each is counted in a transaction of its own, before the
 * command: no command holds a counter's row through its flush. An address is kept as a keyed hash.
 */
export function rateLimits(pool: pg.Pool, keys: KeyRing) {
  const known = new Map<string, string>();

  /** Those who call come again: a hash costs as much as a statement. */
  function bucketOf(address: string): string {
    const again = known.get(address);
    if (again) return again;
    const { hash } = keys.mac('address', 'address', address);
    if (known.size === MOST_KNOWN) known.clear();
    known.set(address, hash);
    return hash;
  }

  // One batch after the other: those of one address would wait for each other's rows.
  const group = openGroup<Counting, Record<string, unknown>[]>(countTogether, { lanes: 1 });

  async function countTogether(batch: readonly Counting[]) {
    // In one order everywhere, so that two processes do not wait for each other.
    const sorted = batch.toSorted((a, b) => (a.order < b.order ? -1 : 1));
    const until = Math.min(...batch.map((counting) => counting.until));
    const statements = sorted.map(({ statement }) => statement);
    const counted = run(pool, statements, until);
    // All of them count or none does: then each is counted alone.
    const results = await (batch.length === 1 ? counted : counted.catch(() => []));
    return batch.map((counting) => results[sorted.indexOf(counting)]);
  }

  /**
   * Counts one in every limit, or in none where one of them is used up, or where `unless` selects a
   * row. Answers whether it counted.
   */
  async function take(address: string, limits: readonly Limit[], unless?: Sql): Promise<boolean> {
    const bucket = bucketOf(address);
    const statement = increments(limits, bucket, unless);
    const order = [bucket, ...limits.map(({ kind }) => kind)].join();
    const counted = await patiently(async (until) => {
      const together = await group.join({ statement, order, until }, []);
      return together ?? (await run(pool, [statement], until))[0];
    });
    const kinds = (counted ?? []).map((row) => row.kind);
    if (kinds.length === limits.length) return true;
    const taken = limits.filter(({ kind }) => kinds.includes(kind));
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

  /** The bucket under every server key, newest first: for what must be found again. */
  const bucketsOf = (address: string) =>
    keys.all('address', 'address', address).map(({ hash }) => hash);

  return { take, giveBack, bucketOf, bucketsOf };
}

async function run(
  pool: pg.Pool,
  statements: readonly Sql[],
  until = deadline(),
): Promise<Record<string, unknown>[][]> {
  try {
    return await withClient(pool, until, (client) => pipeline(client, statements));
  } catch (error) {
    throw isUnavailable(error) ? new StorageUnavailable('counter failed', { cause: error }) : error;
  }
}

const NOTHING = sql`SELECT WHERE false`;

/**
 * All of them in one statement. Its transaction is its own or that of other counts, never a
 * command's: losing the last counts in a crash of the database is no loss worth a flush, and the
 * setting ends with the transaction.
 */
function increments(limits: readonly Limit[], bucket: string, unless = NOTHING): Sql {
  const own = [
    limits.map(({ kind }) => kind),
    limits.map(({ window }) => window),
    limits.map(({ limit }) => limit),
    bucket,
  ];
  const condition = unless.text.replace(/\$(\d+)/g, (_, n: string) => `$${Number(n) + own.length}`);
  const text = `INSERT INTO rate_counters AS counter (kind, bucket, window_start, count)
    SELECT asked.kind, $4, date_bin(asked.span::interval, clock_timestamp(), 'epoch'), 1
    FROM unnest($1::text[], $2::text[], $3::int[]) AS asked (kind, span, most),
      set_config('synchronous_commit', 'off', true)
    WHERE asked.most > 0 AND NOT EXISTS (${condition})
    ORDER BY asked.kind
    ON CONFLICT (kind, bucket, window_start) DO UPDATE SET count = counter.count + 1
    WHERE counter.count < ($3::int[])[array_position($1::text[], counter.kind)]
    RETURNING kind`;
  return { name: `count-${unless.name}`, text, values: [...own, ...unless.values] };
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
