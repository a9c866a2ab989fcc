import { setTimeout as sleep } from 'node:timers/promises';
import { fault } from '../fault.ts';
import { Client, destroyConnection } from '../postgres/client.ts';
import { clientConfig } from '../postgres/connection.ts';
import { OutcomeUnconfirmed } from '../postgres/errors.ts';
import type { Sql } from '../sql.ts';
import type { StandbyBarrier } from './standby-barrier.ts';

/** Time to query the outcome, in milliseconds, even if less is left before the deadline. */
export const MIN_ASKING_MS = 400;
/** Timeout of one query attempt, in milliseconds. */
const QUERY_TIMEOUT_MS = 800;
/** After this time, in milliseconds, a transaction that is still in progress is terminated. */
const GRACE_MS = 300;

/**
 * Resolves, over a new connection, whether a transaction whose COMMIT got no answer was committed.
 * PostgreSQL may reuse a transaction id after a crash, so the status of the id alone proves
 * nothing: `witness` must select a row that the transaction wrote. Without a witness, the writes may
 * be lost in a crash anyway.
 *
 * A transaction still in progress after `GRACE_MS` is terminated: its connection is lost, so its
 * COMMIT may never arrive. One that waits for a synchronous standby is not: terminating it would
 * make it visible although no standby has it. Where there are synchronous standbys, a commit counts
 * only once `barrier` has confirmed it.
 *
 * `until` is a `deadline`. Throws `OutcomeUnconfirmed` if the outcome is still unknown at that time.
 */
export async function wasCommitted(
  url: string,
  { xid, witness, barrier }: { xid: string; witness: Sql | undefined; barrier: StandbyBarrier },
  until: number,
): Promise<boolean> {
  const started = performance.now();
  const last = Math.max(until, started + MIN_ASKING_MS);
  for (let now = started; now < last; now = performance.now()) {
    const patience = Math.min(QUERY_TIMEOUT_MS, last - now);
    const found = await queryStatus(url, xid, witness, {
      patience,
      end: now - started > GRACE_MS,
    }).catch(() => undefined);
    if (found?.waitsForStandby) barrier.raise();
    if (found?.status === 'aborted') return false;
    if (found?.status === 'committed') {
      if (found.hasStandbys && !fault('no-sync-wait')) await barrier.confirm(last);
      return true;
    }
    await sleep(50);
  }
  throw new OutcomeUnconfirmed('could not determine whether the transaction was committed');
}

interface Status {
  /** Null if the id is older than any that the server knows. */
  status: string | null;
  /** Whether synchronous standbys are configured. */
  hasStandbys: boolean;
  waitsForStandby: boolean;
}

const STATUS = `SELECT pg_xact_status($1::xid8) AS status,
  current_setting('synchronous_standby_names') <> '' AS "hasStandbys",
  EXISTS (SELECT FROM pg_stat_activity
    WHERE backend_xid = $1::xid8::xid AND wait_event = 'SyncRep') AS "waitsForStandby"`;

const END = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_xid = $1::xid8::xid`;

async function queryStatus(
  url: string,
  xid: string,
  witness: Sql | undefined,
  { patience, end }: { patience: number; end: boolean },
): Promise<Status | undefined> {
  const client = new Client({
    ...clientConfig(url, 'service outcome'),
    connectionTimeoutMillis: patience,
    query_timeout: patience,
  });
  client.on('error', () => undefined);
  // Bounds all queries of this attempt together.
  const timer = setTimeout(() => destroyConnection(client), patience);
  try {
    await client.connect();
    if (end) {
      const unlessWaiting = fault('no-sync-wait')
        ? ''
        : " AND wait_event IS DISTINCT FROM 'SyncRep'";
      await client.query(END + unlessWaiting, [xid]);
    }
    const { rows } = await client.query<Status>(STATUS, [xid]);
    const [found] = rows;
    if (!witness || found?.status !== 'committed') return found;
    const { rowCount } = await client.query(witness);
    return { ...found, status: rowCount === 1 ? 'committed' : 'aborted' };
  } finally {
    clearTimeout(timer);
    void client.end().catch(() => undefined);
  }
}
