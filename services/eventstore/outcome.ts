import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { clientConfig, OutcomeUnconfirmed } from '../postgres.ts';

const BUDGET_MS = 2500;
const GRACE_MS = 300;

/**
 * Asks storage, over a connection of its own, whether a transaction whose COMMIT got no answer was
 * committed. One still in progress after a moment is ended: its connection is lost to us, so its
 * COMMIT may never arrive.
 */
export async function wasCommitted(url: string, xid: string): Promise<boolean> {
  const started = Date.now();
  while (Date.now() - started < BUDGET_MS) {
    const status = await ask(url, xid, Date.now() - started > GRACE_MS).catch(() => undefined);
    if (status === 'committed') return true;
    if (status === 'aborted') return false;
    await sleep(50);
  }
  throw new OutcomeUnconfirmed('the fate of a transaction could not be learnt');
}

async function ask(url: string, xid: string, end: boolean): Promise<string | null | undefined> {
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
    return rows[0]?.status;
  } finally {
    void client.end().catch(() => undefined);
  }
}
