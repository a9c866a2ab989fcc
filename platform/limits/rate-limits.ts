import type pg from 'pg';
import { createBatcher } from '../batcher.ts';
import { networkOf } from '../http/address.ts';
import { NETWORK_FACTOR } from '../http/rate-limit.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { isUnavailable, StorageUnavailable } from '../postgres/errors.ts';
import { pipeline } from '../postgres/pipeline.ts';
import { withClient } from '../postgres/pool.ts';
import { deadline, withinDeadline } from '../postgres/request-deadline.ts';
import type { Sql } from '../sql.ts';
import {
  type BucketLimit,
  type CountedRow,
  type CountRequest,
  counterKey,
  decrement,
  increments,
  type Limit,
} from './rate-counters.ts';
import { exhausted, type Remaining, rateLimitHeaders } from './rate-headers.ts';

export type { Limit } from './rate-counters.ts';

/** Largest number of cached address hashes; a full cache is cleared. */
const MAX_KNOWN = 1000;
/** Timeout of `giveBackLater`, in milliseconds. */
const LATER_MS = 2500;

export type RateLimits = ReturnType<typeof rateLimits>;

/**
 * Whether a request was counted, and the headers that tell its caller what is left. `details` are
 * those of the refusal if a limit is used up.
 */
export interface Taken {
  counted: boolean;
  headers: Record<string, string>;
  details?: { limit: number; resets_at: string };
}

/** What is left of each limit; or the limit that is used up, unless the request is a repeat. */
type CountResult = { left: Remaining[] } | { exhausted: Limit | undefined };

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
  const group = createBatcher<{ asked: CountRequest; until: number }, CountResult>(
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
   * Counts requests and returns the outcome of each. Requests of one address are counted
   * together first, and one by one if not all of them fit.
   */
  async function count(asked: readonly CountRequest[], until: number): Promise<CountResult[]> {
    // Every process uses the same order, so that two processes cannot deadlock.
    const sorted = asked.toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1));
    const alike = [...Map.groupBy(sorted, likeness)].sort(([a], [b]) => (a < b ? -1 : 1));
    const outcomes = new Map<CountRequest, CountResult>();
    let lists = alike.map(([, list]) => list);
    let back: Sql[] = [];
    while (lists.length + back.length > 0) {
      const rows = await run(pool, [...back, ...lists.map(increments)], until);
      const sifted = sift(lists, rows.slice(back.length));
      for (const [one, outcome] of sifted.outcomes) outcomes.set(one, outcome);
      back = sifted.back;
      lists = sifted.crowded.map((one) => [one]);
    }
    return asked.map((one) => outcomes.get(one) ?? { exhausted: undefined });
  }

  /**
   * The counters of a request, the narrowest first: those of its address, of the IPv6 /48 around it at
   * `NETWORK_FACTOR` times the limits, and of the whole service. A request that its address may not make counts
   * for no other caller.
   */
  function steps(address: string, limits: readonly Limit[]): BucketLimit[][] {
    const own = limits.filter(({ scope }) => scope === undefined);
    const network = networkOf(address);
    return [
      own.map((limit) => ({ ...limit, bucket: bucketOf(address) })),
      network ? own.map((limit) => ({ ...ofNetwork(limit), bucket: bucketOf(network) })) : [],
      limits
        .filter(({ scope }) => scope === 'service')
        .map((limit) => ({ ...limit, bucket: 'service' })),
    ].filter((step) => step.length > 0);
  }

  /**
   * Counts one request in every limit. Counts nothing if a limit is used up or if `unless` (a read
   * by one key) selects a row. Throws `StorageUnavailable`.
   */
  async function take(address: string, limits: readonly Limit[], unless?: Sql): Promise<Taken> {
    const counted: BucketLimit[][] = [];
    let headers: Record<string, string> | undefined;
    for (const step of steps(address, limits)) {
      const first = counted.length === 0;
      const asked = {
        bucket: step[0]?.bucket ?? '',
        limits: step,
        unless: first ? unless : undefined,
      };
      const outcome = await withinDeadline(
        async (until) =>
          (await group.join({ asked, until }, [])) ?? (await count([asked], until))[0],
      );
      if (!outcome || !('left' in outcome)) {
        await takeBack(counted.flat());
        return {
          counted: false,
          ...(outcome?.exhausted
            ? exhausted(step, outcome.exhausted)
            : { headers: rateLimitHeaders(step, []) }),
        };
      }
      headers ??= rateLimitHeaders(step, outcome.left);
      counted.push(step);
    }
    return { counted: true, headers: headers ?? {} };
  }

  async function takeBack(counted: readonly BucketLimit[], until?: number): Promise<void> {
    if (counted.length === 0) return;
    await run(
      pool,
      counted.map((limit) => decrement(limit, limit.bucket, 1)),
      until,
    );
  }

  /** Reverts `take`, for a command that failed. Throws `StorageUnavailable`. */
  async function giveBack(
    address: string,
    limits: readonly Limit[],
    until?: number,
  ): Promise<void> {
    await takeBack(steps(address, limits).flat(), until);
  }

  /** Reverts `take` after a storage failure: tries for `LATER_MS` and ignores errors. */
  const giveBackLater = (address: string, limits: readonly Limit[]): Promise<void> =>
    giveBack(address, limits, performance.now() + LATER_MS).catch(() => undefined);

  /** The buckets of an address under every server key, newest first, to find earlier counts. */
  const bucketsOf = (address: string) =>
    keys.all('address', 'address', address).map(({ hash }) => hash);

  /** The counters of a request, for a command that checks and counts them itself. */
  const countersOf = (address: string, limits: readonly Limit[]) => steps(address, limits).flat();

  /** The bucket of an IPv4 address, or of the IPv6 /48 around an address. */
  const networkBucketOf = (address: string) => bucketOf(networkOf(address) ?? address);

  return {
    take,
    giveBack,
    giveBackLater,
    bucketOf,
    bucketsOf,
    networkBucketOf,
    countersOf,
  };
}

/** An IPv6 /48 may hold 65,536 buckets of /64; together they have ten times the limits of one. */
const ofNetwork = ({ kind, window, limit }: Limit): Limit => ({
  kind: `${kind}-network`,
  window,
  limit: NETWORK_FACTOR * limit,
});

/** Groups requests that one statement can count: those with the same limits and condition. */
const likeness = ({ limits, unless }: CountRequest) =>
  [...limits.map(({ kind, limit }) => `${kind} ${limit}`), unless?.name].join();

/**
 * Splits requests by the result of counting: `outcomes` of those that are finished; `crowded`, to retry one by one because not
 * all requests of their address fit; and `back`, the statements that revert partial counts.
 */
function sift(lists: readonly (readonly CountRequest[])[], rows: readonly unknown[][]) {
  const outcomes: [CountRequest, CountResult][] = [];
  const crowded: CountRequest[] = [];
  const back: Sql[] = [];
  for (const [index, list] of lists.entries()) {
    const found = rows[index] as CountedRow[];
    const repeated = found.filter(({ bucket }) => bucket === null).map(({ key }) => key);
    const fresh = list.filter((one) => !repeated.includes(counterKey(one)));
    for (const [bucket, own] of Map.groupBy(fresh, (one) => one.bucket)) {
      const { limits } = own[0] as CountRequest;
      const counts = found.filter((row) => row.bucket === bucket);
      const partly = limits.filter(({ kind }) => counts.some((row) => row.kind === kind));
      const exhausted = limits.find((limit) => !partly.includes(limit));
      if (!exhausted) {
        const left = limits.map((limit) => toRemaining(limit, counts));
        outcomes.push(...own.map((one) => [one, { left }] as [CountRequest, CountResult]));
      } else {
        back.push(...partly.map((limit) => decrement(limit, bucket, own.length)));
        if (own.length > 1) crowded.push(...own);
        else outcomes.push([own[0] as CountRequest, { exhausted }]);
      }
    }
  }
  return { outcomes, crowded, back };
}

function toRemaining({ kind, limit }: Limit, counts: readonly CountedRow[]): Remaining {
  const { count, resets_in } = counts.find((row) => row.kind === kind) ?? {};
  return { kind, remaining: limit - (count ?? limit), resetsIn: resets_in ?? 0 };
}

/** Runs each statement in its own transaction, so that none waits for a row while holding another. */
async function run(
  pool: pg.Pool,
  statements: readonly Sql[],
  until = deadline(),
): Promise<Record<string, unknown>[][]> {
  try {
    const rows = await withClient(pool, until, (client) =>
      Promise.all(statements.map((statement) => pipeline(client, [statement]))),
    );
    return rows.flat();
  } catch (error) {
    throw isUnavailable(error) ? new StorageUnavailable('counter failed', { cause: error }) : error;
  }
}
