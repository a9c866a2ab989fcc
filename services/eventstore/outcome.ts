import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { clientConfig, OutcomeUnconfirmed } from '../postgres.ts';
import type { RecordedEvent } from './event.ts';

const BUDGET_MS = 2500;
const GRACE_MS = 300;

/**
 * Asks storage, over a connection of its own, whether a transaction whose COMMIT got no answer was
 * committed. An id that was given out before a crash may be given out again after it, and then tells
 * another transaction's fate: an event of the transaction itself must be there too. A transaction
 * still in progress after a moment is ended: its connection is lost, so its COMMIT may never arrive.
 */
export async function wasCommitted(
  url: string,
  xid: string,
  event: RecordedEvent | undefined,
): Promise<boolean> {
  const started = performance.now();
  while (performance.now() - started < BUDGET_MS) {
    const status = await ask(url, xid, event, performance.now() - started > GRACE_MS).catch(
      () => undefined,
    );
    if (status === 'committed') return true;
    if (status === 'aborted') return false;
    await sleep(50);
  }
  throw new OutcomeUnconfirmed('the fate of a transaction could not be learnt');
}

async function ask(
  url: string,
  xid: string,
  event: RecordedEvent | undefined,
  end: boolean,
): Promise<string | null | undefined> {
  const client = new pg.Client({
    ...clientConfig(url, 'service outcome'),
    connectionTimeoutMillis: 800,
    query_timeout: 800,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    if (end)
      await client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = $1::xid8::xid',
        [xid],
      );
    const { rows } = await client.query<{ status: string | null }>(
      'SELECT pg_xact_status($1::xid8) AS status',
      [xid],
    );
    const status = rows[0]?.status;
    if (status !== 'committed' || !event) return status;
    const { owner_id, stream_id, stream_version, event_id } = event;
    const found = await client.query(
      `SELECT FROM events WHERE owner_id = $1 AND stream_id = $2 AND stream_version = $3
        AND event_id = $4`,
      [owner_id, stream_id, stream_version, event_id],
    );
    return found.rowCount === 1 ? 'committed' : 'aborted';
  } finally {
    void client.end().catch(() => undefined);
  }
}
