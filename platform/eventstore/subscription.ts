import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { query } from '../postgres/query.ts';
import { snapshot } from '../postgres/reads.ts';
import { type Sql, sql } from '../sql.ts';
import type { RecordedEvent } from './event.ts';

/** An event without its contents. */
export type FollowedEvent = Pick<
  RecordedEvent,
  'position' | 'event_id' | 'type' | 'stream_id' | 'stream_version' | 'actor'
>;

/** Positions that one statement reads. */
const RANGE_POSITIONS = 1000;
/** How long a follower waits, when it is created, for the transactions that were open then. */
const OPENING_MS = 1000;
/** How long a job waits for them. A cluster looks every few seconds which commits have reached all nodes. */
const SETTLING_MS = 8000;
const POLL_MS = 10;
/** Where a follower begins, in positions before the newest, if it waited in vain. */
const LOOKBACK_POSITIONS = 500;

type Looked = [{ xmin: string }, { position: number }, ...FollowedEvent[]];

/** Positions in which no event was visible; every transaction that may fill them is older than `xid`. */
interface Gap {
  from: number;
  to: number;
  xid: bigint;
}

/**
 * Follows new events of the log by position. Positions are assigned before COMMIT, so a later one
 * may become visible first: each read queries gaps again, until an event appears in them or no
 * transaction is left that could fill them.
 *
 * Why this is exact. A command takes its transaction id at BEGIN and draws its positions later. If
 * position p is missing in a read that shows a later one, p was drawn before that read, so its
 * transaction has a smaller id than `xid`, an id taken after the read. Once a snapshot's xmin has
 * reached `xid`, that transaction has ended: p is in this snapshot, or was rolled back. The xmax of
 * the read would not do: it is one more than the newest id that has *completed*, and a transaction
 * that is still open may have a larger one. Ids are compared only within the life of a follower, so
 * it does not matter that they start again in a restored database.
 */
export function createLogFollower(pool: pg.Pool) {
  let gaps: Gap[] = [];
  let unread: FollowedEvent[] = [];
  let last = -1;
  let opened = false;

  /**
   * Begins at the newest position before every transaction that was open ended: an event that
   * becomes visible later has a later position. A transaction that outlasts the wait, longer than
   * any command, is found only among the last `LOOKBACK_POSITIONS`.
   */
  async function open(): Promise<void> {
    const [newest] = await query(pool, newestPosition());
    const position = newest?.position ?? 0;
    const settled = await olderTransactionsEnd(pool, OPENING_MS);
    last = settled ? position : Math.max(0, position - LOOKBACK_POSITIONS);
  }

  /**
   * Returns the events that were committed since the last call, in position order except for late
   * ones. The first call returns none. After a failure, the next call returns the missed events.
   */
  async function read(): Promise<FollowedEvent[]> {
    if (last < 0) await open();
    // A second look settles gaps that a rollback left, without waiting for the next call.
    for (let looks = 0; ; ) {
      const { upToDate, found } = await readRange();
      if (!upToDate) continue;
      looks++;
      if (!found || looks > 1) break;
    }
    const events = opened ? unread : [];
    opened = true;
    unread = [];
    return events;
  }

  /** Reads one range and the gaps; says whether it reached the newest position, and found gaps. */
  async function readRange(): Promise<{ upToDate: boolean; found: boolean }> {
    const [[oldest], [newestRow], rows = [], ...late] = await snapshot<Looked>(pool, [
      oldestXid(),
      newestPosition(),
      eventsBetween(last, last + RANGE_POSITIONS),
      ...gaps.map(({ from, to }) => eventsBetween(from - 1, to)),
    ]);
    const xmin = oldest?.xmin ?? '0';
    const newest = newestRow?.position ?? 0;
    let end = Math.min(last + RANGE_POSITIONS, newest);
    // Skips a range without events, such as positions that a restored sequence left out.
    if (rows.length === 0 && end < newest) end = (await nextPosition(pool, last)) - 1;
    const missing = rangesBetween(last, end, positions(rows));
    const xid = missing.length > 0 ? await newXid(pool) : 0n;
    // Nothing fails from here on, so that a failed read changes nothing and is repeated.
    gaps = [
      ...gaps.flatMap(({ from, to, xid: before }, at) =>
        before > BigInt(xmin)
          ? rangesBetween(from - 1, to, positions(late[at])).map((range) => ({
              ...range,
              xid: before,
            }))
          : [],
      ),
      ...missing.map((range) => ({ ...range, xid })),
    ];
    unread.push(...late.flat().sort((one, other) => one.position - other.position), ...rows);
    last = Math.max(last, end);
    return { upToDate: last >= newest, found: missing.length > 0 };
  }

  /** The position up to which every event was read, from which a consumer can resume. */
  function settled(): number {
    return Math.min(last, ...gaps.map(({ from }) => from - 1));
  }

  return { read, settled, last: () => last };
}

/**
 * Returns a position up to which the log is complete: no event before it can appear any more. Undefined
 * if a transaction that may write one stays open for longer than eight seconds.
 */
export async function settledPosition(pool: pg.Pool): Promise<number | undefined> {
  const [newest] = await query(pool, newestPosition());
  return (await olderTransactionsEnd(pool, SETTLING_MS)) ? (newest?.position ?? 0) : undefined;
}

/** Waits for the transactions that are open now; returns whether they ended within so many milliseconds. */
async function olderTransactionsEnd(pool: pg.Pool, patienceMs: number): Promise<boolean> {
  const xid = await newXid(pool);
  const started = performance.now();
  for (;;) {
    const [oldest] = await query(pool, oldestXid());
    if (BigInt(oldest?.xmin ?? 0) >= xid) return true;
    if (performance.now() - started > patienceMs) return false;
    await sleep(POLL_MS);
  }
}

const positions = (events: readonly FollowedEvent[] = []) => events.map(({ position }) => position);

/** The ranges after `after`, up to and including `to`, that hold none of the sorted positions. */
function rangesBetween(
  after: number,
  to: number,
  positions: readonly number[],
): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  let from = after + 1;
  for (const position of [...positions.filter((one) => one > after && one <= to), to + 1]) {
    if (position > from) ranges.push({ from, to: position - 1 });
    from = position + 1;
  }
  return ranges;
}

/** Reads the newest position of the log; 0 if the log is empty. */
export function newestPosition(): Sql<{ position: number }> {
  return sql`SELECT coalesce(max(position), 0) AS position FROM events`;
}

/**
 * The oldest transaction id that is still in progress, on this node or, after its commit here, on another one. It is
 * read before the events: each node of a cluster has a snapshot from its first read on.
 */
const oldestXid = (): Sql<{ xmin: string }> =>
  sql`SELECT least(pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
    oldest_two_phase_commit())::text AS xmin`;

/** Takes a transaction id, which is larger than that of every transaction that has one. */
async function newXid(pool: pg.Pool): Promise<bigint> {
  const [row] = await query(pool, sql<{ xid: string }>`SELECT pg_current_xact_id()::text AS xid`);
  return BigInt(row?.xid ?? 0);
}

/** Waits until what this node has committed so far is visible on every node of a cluster. */
export async function untilVisibleEverywhere(client: pg.ClientBase): Promise<void> {
  const ask = async <Row>(text: string) => (await client.query(text)).rows[0] as Row;
  const oldest = () => ask<{ xid: string | null }>('SELECT oldest_two_phase_commit()::text AS xid');
  if ((await oldest()).xid === null) return;
  const { xid } = await ask<{ xid: string }>(
    'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid',
  );
  for (let next = await oldest(); next.xid !== null && BigInt(next.xid) < BigInt(xid); ) {
    await sleep(POLL_MS);
    next = await oldest();
  }
}

/** The first position after another that has an event, which must exist. */
async function nextPosition(pool: pg.Pool, after: number): Promise<number> {
  const [row] = await query(
    pool,
    sql<{ position: number }>`SELECT min(position) AS position FROM events
      WHERE position > ${after}`,
  );
  return row?.position ?? after + 1;
}

/**
 * Reads the events that are visible after a position, up to and including another, oldest first. Gaps
 * are read by one such statement each: a plan that joins the log with a list of ranges may walk the
 * whole log and compare each event with each range.
 */
export function eventsBetween(after: number, to: number): Sql<FollowedEvent> {
  return sql`SELECT position, event_id, type, stream_id, stream_version, actor FROM events
    WHERE position > ${after} AND position <= ${to} ORDER BY position`;
}
