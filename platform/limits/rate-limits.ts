import type pg from 'pg';
import { openGroup } from '../batcher.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { isUnavailable, StorageUnavailable } from '../postgres/errors.ts';
import { pipeline } from '../postgres/pipeline.ts';
import { withClient } from '../postgres/pool.ts';
import { deadline, patiently } from '../postgres/request-deadline.ts';
import type { Sql } from '../sql.ts';
import {
  type Asked,
  type CountedRow,
  decrement,
  increments,
  keyOf,
  type Limit,
} from './rate-counters.ts';

export type { Limit } from './rate-counters.ts';

/** Addresses whose hash is remembered, all of them forgotten at once. */
const MOST_KNOWN = 1000;
const LATER_MS = 2500;

export type RateLimits = ReturnType<typeof rateLimits>;

/**
 * Counters that hold across all processes. Each is counted in a transaction before the command: no
 * command holds a counter's row through its flush. An address is kept as a keyed hash.
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
  const group = openGroup<{ asked: Asked; until: number }, boolean>(
    async (batch) => {
      const until = Math.min(...batch.map((one) => one.until));
      const asked = batch.map((one) => one.asked);
      const counted = count(asked, until);
      // Whichever spoilt it: each is counted alone.
      return batch.length === 1 ? counted : counted.catch(() => []);
    },
    { lanes: 1 },
  );

  /** Whether each was counted. Those of one address go as one, and one by one where not all fit. */
  async function count(asked: readonly Asked[], until: number): Promise<boolean[]> {
    // In one order everywhere, so that two processes do not wait for each other.
    const sorted = asked.toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1));
    const alike = [...Map.groupBy(sorted, likeness)].sort(([a], [b]) => (a < b ? -1 : 1));
    const counted = new Set<Asked>();
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
   * Counts one in every limit, or in none where one of them is used up, or where `unless` (a read by
   * one key) selects a row. Answers whether it counted.
   */
  function take(address: string, limits: readonly Limit[], unless?: Sql): Promise<boolean> {
    const asked = { bucket: bucketOf(address), limits, unless };
    return patiently(
      async (until) =>
        (await group.join({ asked, until }, [])) ?? (await count([asked], until))[0] ?? false,
    );
  }

  /** Gives back what `take` counted, where the command came to nothing. */
  async function giveBack(
    address: string,
    limits: readonly Limit[],
    until?: number,
  ): Promise<void> {
    const bucket = bucketOf(address);
    const statements = limits.map((limit) => decrement(limit, bucket, 1));
    await run(pool, statements, until);
  }

  /** The same where storage failed the command: for a while more it may answer, or not. */
  const giveBackLater = (address: string, limits: readonly Limit[]): Promise<void> =>
    giveBack(address, limits, performance.now() + LATER_MS).catch(() => undefined);

  /** The bucket under every server key, newest first: for what must be found again. */
  const bucketsOf = (address: string) =>
    keys.all('address', 'address', address).map(({ hash }) => hash);

  return { take, giveBack, giveBackLater, bucketOf, bucketsOf };
}

/** What goes as one statement: the same limits, and the same condition. */
const likeness = ({ limits, unless }: Asked) =>
  [...limits.map(({ kind, limit }) => `${kind} ${limit}`), unless?.name].join();

/** Who was counted, whose address had no room for all of its own, and what is to be given back. */
function sift(lists: readonly (readonly Asked[])[], rows: readonly unknown[][]) {
  const counted: Asked[] = [];
  const crowded: Asked[] = [];
  const back: Sql[] = [];
  for (const [index, list] of lists.entries()) {
    const told = rows[index] as CountedRow[];
    const repeated = told.filter(({ bucket }) => bucket === null).map(({ key }) => key);
    const fresh = list.filter((one) => !repeated.includes(keyOf(one)));
    for (const [bucket, own] of Map.groupBy(fresh, (one) => one.bucket)) {
      const { limits } = own[0] as Asked;
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
