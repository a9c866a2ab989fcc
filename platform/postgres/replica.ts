import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { concurrencyLimit } from '../concurrency.ts';
import { fault } from '../fault.ts';
import { withClient } from './pool.ts';

export type Replicas = ReturnType<typeof watchReplicas>;
type Replica = ReturnType<typeof watchReplica>;

/** How often the replica is measured, and how long a measurement may take, in milliseconds. */
const SAMPLE_MS = 1000;

/** A position of the primary's write-ahead log, and when the primary had reached it. */
interface Mark {
  position: bigint;
  at: number;
}

/** How the reads of a pool find a connection. */
type Reads = Pick<Replicas, 'primary' | 'onPrimary' | 'choose'>;

const watched = new WeakMap<pg.Pool, Reads>();
const fromPrimary = new AsyncLocalStorage<true>();

/** How reads of this pool find a connection; undefined for the primary's own pool. */
export const replicasOf = (pool: pg.Pool): Reads | undefined => watched.get(pool);

const shares = new WeakMap<pg.Pool, ReturnType<typeof concurrencyLimit>>();

/** Runs reads of anyone on at most half of the primary's connections. */
function shareOf(primary: pg.Pool) {
  const share =
    shares.get(primary) ?? concurrencyLimit(Math.max(1, Math.floor(primary.options.max / 2)));
  shares.set(primary, share);
  return share;
}

/**
 * A pool for the reads of anyone where there is no replica. Without their share, writes and moderators
 * would wait behind every read of a long page. Only `runRead` gives its connections.
 */
export function publicReads(primary: pg.Pool): pg.Pool {
  const reads = Object.create(primary) as pg.Pool;
  watched.set(reads, { primary, onPrimary: shareOf(primary), choose: () => undefined });
  return reads;
}

/** Runs `work`, whose reads all go to the primary, so that the caller reads its own writes. */
export const readFromPrimary = <Result>(work: () => Result): Result => fromPrimary.run(true, work);

/** Whether the reads of this call go to the primary. */
export const readsFromPrimary = (): boolean =>
  fromPrimary.getStore() === true && !fault('no-read-your-writes');

/**
 * Watches read replicas, one for each pool; reads of the first pool use them in turn. A replica is
 * used while it answers and has replayed all that the primary had written `maxLagSeconds` ago.
 */
export function watchReplicas(pools: readonly pg.Pool[], primary: pg.Pool, maxLagSeconds: number) {
  const all = pools.map((pool) => watchReplica(pool, primary, maxLagSeconds));
  let turn = 0;
  const replicas = {
    primary,
    /** Runs reads that no replica can take. */
    onPrimary: shareOf(primary),
    /** The replica for the next read; undefined if the read has to use the primary. */
    choose(): Replica | undefined {
      if (readsFromPrimary()) return undefined;
      const usable = all.filter((replica) => replica.isUsable());
      return usable[turn++ % usable.length];
    },
    /** How many replicas reads use. */
    countUsable: (): number => all.filter((replica) => replica.isUsable()).length,
    /** How far each replica is, in the order of the pools. */
    states: (): { usable: boolean; lagSeconds: number }[] =>
      all.map((replica) => ({ usable: replica.isUsable(), lagSeconds: replica.lagSeconds() })),
    /** The lag of the replica that is furthest behind. */
    lagSeconds: (): number => Math.max(...all.map((replica) => replica.lagSeconds())),
    stop() {
      for (const replica of all) replica.stop();
    },
  };
  for (const pool of pools) watched.set(pool, replicas);
  return replicas;
}

/**
 * Watches one replica. If the primary cannot be reached, the replica is measured against what the
 * primary was last seen to have written.
 */
function watchReplica(pool: pg.Pool, primary: pg.Pool, maxLagSeconds: number) {
  let marks: Mark[] = [];
  let lagMs = Number.POSITIVE_INFINITY;
  let answers = false;

  async function sample(): Promise<void> {
    const [written, replayed] = await Promise.allSettled([
      positionOf(primary, 'pg_current_wal_insert_lsn()'),
      positionOf(pool, 'pg_last_wal_replay_lsn()'),
    ]);
    if (written.status === 'fulfilled' && written.value !== undefined)
      marks.push({ position: written.value, at: performance.now() });
    answers = replayed.status === 'fulfilled';
    if (replayed.status === 'rejected') return;
    // Not a physical replica: it has no position to compare.
    if (replayed.value === undefined) {
      lagMs = 0;
      return;
    }
    const position = replayed.value;
    const reached = marks.findLast((mark) => mark.position <= position);
    const newest = marks.at(-1);
    if (!reached || !newest) return;
    lagMs = newest.at - reached.at;
    marks = marks.slice(marks.indexOf(reached));
  }

  void sample();
  const timer = setInterval(() => void sample(), SAMPLE_MS).unref();
  return {
    pool,
    isUsable: (): boolean => answers && lagMs <= maxLagSeconds * 1000,
    lagSeconds: (): number => lagMs / 1000,
    /** A read failed: the replica is not used until it has been measured again. */
    failed() {
      answers = false;
    },
    stop: () => clearInterval(timer),
  };
}

/** Reads a position; undefined if the server has none, or is the wrong kind of server for it. */
async function positionOf(pool: pg.Pool, expression: string): Promise<bigint | undefined> {
  const wanted = expression.startsWith('pg_last');
  const { rows } = await withClient(pool, performance.now() + SAMPLE_MS, (client) =>
    client.query<{ position: string | null }>(
      `SELECT CASE WHEN pg_is_in_recovery() = ${wanted}
         THEN (${expression} - '0/0'::pg_lsn)::text END AS position`,
    ),
  );
  const position = rows[0]?.position;
  return position ? BigInt(position) : undefined;
}
