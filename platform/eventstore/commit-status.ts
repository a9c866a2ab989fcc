import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { clientConfig, cut } from '../postgres/connection.ts';
import { OutcomeUnconfirmed } from '../postgres/errors.ts';
import type { RecordedEvent } from './event.ts';

/** What asking may take where it begins late, and the most for one answer, in milliseconds. */
export const LEAST_MS = 400;
const ANSWER_MS = 800;
const GRACE_MS = 300;

/**
 * Asks storage, over a connection of its own, whether a transaction whose COMMIT got no answer was
 * committed. An id that was given out before a crash may be given out again after it, and then tells
 * another transaction's fate: an event of the transaction itself must be there too. A transaction
 * still in progress after a moment is ended: its connection is lost, so its COMMIT may never arrive.
 * `until` is a `deadline`.
 */
export async function wasCommitted(
  url: string,
  xid: string,
  event: RecordedEvent | undefined,
  until: number,
): Promise<boolean> {
  const started = performance.now();
  const last = Math.max(until, started + LEAST_MS);
  for (let now = started; now < last; now = performance.now()) {
    const patience = Math.min(ANSWER_MS, last - now);
    const status = await ask(url, xid, event, {
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
  xid: string,
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
    if (!event || status !== 'committed') return status;
    const { owner_id, stream_id, stream_version, event_id } = event;
    const found = await client.query(
      `SELECT FROM events WHERE owner_id = $1 AND stream_id = $2 AND stream_version = $3
        AND event_id = $4`,
      [owner_id, stream_id, stream_version, event_id],
    );
    return found.rowCount === 1 ? 'committed' : 'aborted';
  } finally {
    clearTimeout(timer);
    void client.end().catch(() => undefined);
  }
}
