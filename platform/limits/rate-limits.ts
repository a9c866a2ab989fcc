import type pg from 'pg';
import { createBatcher } from '../batcher.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { isUnavailable, StorageUnavailable } from '../postgres/errors.ts';
import { pipeline } from '../postgres/pipeline.ts';
import { withClient } from '../postgres/pool.ts';
import { deadline, withinDeadline } from '../postgres/request-deadline.ts';
import type { Sql } from '../sql.ts';
import {
  type CountedRow,
  type CountRequest,
  counterKey,
  decrement,
  increments,
  type Limit,
} from './rate-counters.ts';

export type { Limit } from './rate-counters.ts';

/** Largest number of cached address hashes; a full cache is cleared. */
const MAX_KNOWN = 1000;
/** Timeout of `giveBackLater`, in milliseconds. */
const LATER_MS = 2500;

export type RateLimits = ReturnType<typeof rateLimits>;

/**
 * Creates rate limits that all processes share. A request is counted in a separate transaction
 * before its command, so that no command locks a counter's row while it is flushed. Addresses are
 * stored as keyed hashes.
 */
export function rateLimits(pool: pg.Pool, keys: KeyRing) {
  const known = new Map<string, string>();

  /** The counter bucket of an address. Cached, because a hash costs as much as a statement. */
  function bucketOf(address: string): string {
    const again = known.get(address);
    if (again) return again;
    const { hash } = keys.mac('address', 'address', address);
    if (known.size === MAX_KNOWN) known.clear();
    known.set(address, hash);
    return hash;
  }

  // One batch at a time: concurrent batches would wait for the rows of an address that they share.
  const group = createBatcher<{ asked: CountRequest; until: number }, boolean>(
    async (batch) => {
      const until = Math.min(...batch.map((one) => one.until));
      const asked = batch.map((one) => one.asked);
      const counted = count(asked, until);
      // If the batch fails, retry each request on its own.
      return batch.length === 1 ? counted : counted.catch(() => []);
    },
    { maxConcurrent: 1 },
  );

  /**
   * Counts requests and returns whether each was counted. Requests of one address are counted
   * together first, and one by one if not all of them fit.
   */
  async function count(asked: readonly CountRequest[], until: number): Promise<boolean[]> {
    // Every process uses the same order, so that two processes cannot deadlock.
    const sorted = asked.toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1));
    const alike = [...Map.groupBy(sorted, likeness)].sort(([a], [b]) => (a < b ? -1 : 1));
    const counted = new Set<CountRequest>();
    let lists = alike.map(([, list]) => list);
    let back: Sql[] = [];
    while (lists.length + back.length > 0) {
      const rows = await run(pool, [...back, ...lists.map(increments)], until);
      const sifted = sift(lists, rows.slice(back.length));
      for (const one of sifted.counted) counted.add(one);
      back = sifted.back;
      lists = sifted.crowded.map((one) => [one]);
    }
    return asked.map((one) => counted.has(one));
  }

  /**
   * Counts one request in every limit and returns true. Returns false and counts nothing if a limit
   * is used up or if `unless` (a read by one key) selects a row. Throws `StorageUnavailable`.
   */
  function take(address: string, limits: readonly Limit[], unless?: Sql): Promise<boolean> {
    const asked = { bucket: bucketOf(address), limits, unless };
    return withinDeadline(
      async (until) =>
        (await group.join({ asked, until }, [])) ?? (await count([asked], until))[0] ?? false,
    );
  }

  /** Reverts `take`, for a command that failed. Throws `StorageUnavailable`. */
  async function giveBack(
    address: string,
    limits: readonly Limit[],
    until?: number,
  ): Promise<void> {
    const bucket = bucketOf(address);
    const statements = limits.map((limit) => decrement(limit, bucket, 1));
    await run(pool, statements, until);
  }

  /** Reverts `take` after a storage failure: tries for `LATER_MS` and ignores errors. */
  const giveBackLater = (address: string, limits: readonly Limit[]): Promise<void> =>
    giveBack(address, limits, performance.now() + LATER_MS).catch(() => undefined);

  /** The buckets of an address under every server key, newest first, to find earlier counts. */
  const bucketsOf = (address: string) =>
    keys.all('address', 'address', address).map(({ hash }) => hash);

  return { take, giveBack, giveBackLater, bucketOf, bucketsOf };
}

/** Groups requests that one statement can count: those with the same limits and condition. */
const likeness = ({ limits, unless }: CountRequest) =>
  [...limits.map(({ kind, limit }) => `${kind} ${limit}`), unless?.name].join();

/**
 * Splits requests by the result of counting: `counted`; `crowded`, to retry one by one because not
 * all requests of their address fit; and `back`, the statements that revert partial counts.
 */
function sift(lists: readonly (readonly CountRequest[])[], rows: readonly unknown[][]) {
  const counted: CountRequest[] = [];
  const crowded: CountRequest[] = [];
  const back: Sql[] = [];
  for (const [index, list] of lists.entries()) {
    const told = rows[index] as CountedRow[];
    const repeated = told.filter(({ bucket }) => bucket === null).map(({ key }) => key);
    const fresh = list.filter((one) => !repeated.includes(counterKey(one)));
    for (const [bucket, own] of Map.groupBy(fresh, (one) => one.bucket)) {
      const { limits } = own[0] as CountRequest;
      const kinds = told.filter((row) => row.bucket === bucket).map(({ kind }) => kind);
      if (kinds.length === limits.length) counted.push(...own);
      else {
        const partly = limits.filter(({ kind }) => kinds.includes(kind));
        back.push(...partly.map((limit) => decrement(limit, bucket, own.length)));
        if (own.length > 1) crowded.push(...own);
      }
    }
  }
  return { counted, crowded, back };
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
