import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type pg from 'pg';
import t, { type Test } from 'tap';
import { type Server, startStandby } from '../../harness/standby.ts';
import { inMemory, temporaryFolder } from '../../harness/temporary-folder.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { withClient } from '../../platform/postgres/pool.ts';
import { deadline } from '../../platform/postgres/request-deadline.ts';
import { startService } from '../support/service.ts';

const FAST = { fsync: 'off', full_page_writes: 'off', wal_keep_size: '512MB' };

/** A migrated primary, and a standby that streams from it. */
async function startServers(t: Test): Promise<{ primary: Server; standby: Server }> {
  const folder = temporaryFolder('failover', inMemory());
  const dataDir = join(folder.path, 'primary');
  const primary: Server = { ...(await embeddedPostgres({ dataDir, settings: FAST })), dataDir };
  await migrate(primary.url);
  const standby = await startStandby(primary, join(folder.path, 'standby'), 'standby', FAST);
  t.teardown(async () => {
    await standby.stop();
    await primary.stop();
    folder.remove();
  });
  return { primary, standby };
}

/** Uses every connection that the pool may have. */
async function useAll(pool: pg.Pool): Promise<void> {
  const use = () => withClient(pool, deadline(), (client) => client.query('SELECT pg_sleep(0.2)'));
  await Promise.all(Array.from({ length: pool.options.max }, use));
}

const newNote = () => ({ body: { id: randomUUID(), message: 'Hello' } });

t.test('gives up connections to a standby once a write meets one', async (t) => {
  const { primary, standby } = await startServers(t);
  const proxy = await wireProxy(t, primary.url);
  const { call, core } = await startService(t, { DATABASE_URL: proxy.url });
  t.match(await call('POST', '/api/guestbook', newNote()), { status: 202 });

  proxy.redirect(standby.url);
  t.match(await call('POST', '/api/guestbook', newNote()), {
    status: 503,
    body: { error: { code: 'storage_unavailable' } },
  });

  await useAll(core.pool);
  proxy.aim(primary.url);
  t.match(await call('POST', '/api/guestbook', newNote()), { status: 202 }, 'at the first try');
});
