import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { clientConfig, cut } from '../postgres/connection.ts';
import { OutcomeUnconfirmed } from '../postgres/errors.ts';
import type { RecordedEvent } from './event.ts';

/** What asking may take where it begins late, and the most for one answer, in milliseconds. */
export const LEAST_MS = 400;
const ANSWER_MS = 800;
const GRACE_MS = 300;

/** What a transaction is known by: its id; or, before it is told that, the process that runs it. */
export type Transaction = { xid: string } | { pid: number; begun: Date };

/**
 * Asks storage, over a connection of its own, whether a transaction whose COMMIT got no answer was
 * committed. An id that was given out before a crash may be given out again after it, and then tells
 * another transaction's fate: an event of the transaction itself must be there too. A transaction
 * still in progress after a moment is ended: its connection is lost, so its COMMIT may never arrive.
 * `until` is a `deadline`.
 */
export async function wasCommitted(
  url: string,
  transaction: Transaction,
  event: RecordedEvent | undefined,
  until: number,
): Promise<boolean> {
  const started = performance.now();
  const last = Math.max(until, started + LEAST_MS);
  for (let now = started; now < last; now = performance.now()) {
    const patience = Math.min(ANSWER_MS, last - now);
    const status = await ask(url, transaction, event, {
      patience,
      end: now - started > GRACE_MS,
    }).catch(() => undefined);
    if (status === 'committed') return true;
    if (status === 'aborted') return false;
    await sleep(50);
  }
  throw new OutcomeUnconfirmed('the fate of a transaction could not be learnt');
}

async function ask(
  url: string,
  transaction: Transaction,
  event: RecordedEvent | undefined,
  { patience, end }: { patience: number; end: boolean },
): Promise<string | null | undefined> {
  const client = new pg.Client({
    ...clientConfig(url, 'service outcome'),
    connectionTimeoutMillis: patience,
    query_timeout: patience,
  });
  client.on('error', () => undefined);
  // For all of it together.
  const timer = setTimeout(() => cut(client), patience);
  try {
    await client.connect();
    if (end) await client.query(endOf(transaction));
    const { rows } = await client.query<{ status: string | null }>(statusOf(transaction));
    const status = rows[0]?.status;
    if (!event || ('xid' in transaction && status !== 'committed')) return status;
    // Asked only now: a process that was gone before has written all that it ever will.
    const { owner_id, stream_id, stream_version, event_id } = event;
    const found = await client.query(
      `SELECT FROM events WHERE owner_id = $1 AND stream_id = $2 AND stream_version = $3
        AND event_id = $4`,
      [owner_id, stream_id, stream_version, event_id],
    );
    if (found.rowCount === 1) return 'committed';
    return status === 'in progress' ? status : 'aborted';
  } finally {
    clearTimeout(timer);
    void client.end().catch(() => undefined);
  }
}

/** One that began well after the transaction, which may be dated too early, did not run it. */
const ITS_PROCESS = "pid = $1 AND backend_start < $2::timestamptz + interval '10 seconds'";

function endOf(transaction: Transaction): pg.QueryConfig {
  const ended = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE';
  return 'xid' in transaction
    ? { text: `${ended} backend_xid = $1::xid8::xid`, values: [transaction.xid] }
    : { text: `${ended} ${ITS_PROCESS}`, values: [transaction.pid, transaction.begun] };
}

function statusOf(transaction: Transaction): pg.QueryConfig {
  if ('xid' in transaction)
    return { text: 'SELECT pg_xact_status($1::xid8) AS status', values: [transaction.xid] };
  return {
    text: `SELECT CASE WHEN EXISTS (SELECT FROM pg_stat_activity WHERE ${ITS_PROCESS})
      THEN 'in progress' ELSE 'ended' END AS status`,
    values: [transaction.pid, transaction.begun],
  };
}
