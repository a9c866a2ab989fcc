import t from 'tap';
import { severalHosts } from '../../harness/standby.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { clientConfig, withConnection } from '../../platform/postgres/connection.ts';
import { StorageUnavailable } from '../../platform/postgres/errors.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { firstConnection } from '../../platform/postgres/pooler.ts';
import { testDatabase } from '../support/database.ts';
import { startStopwatch } from '../support/stopwatch.ts';

const READ_ONLY = '?options=-c%20default_transaction_read_only%3Don';

t.test('a host that does not answer delays no connection', async (t) => {
  const { url } = await testDatabase(t);
  const silent = await wireProxy(t, url);
  silent.hold();
  const hosts = severalHosts([silent, { url }]);
  const pool = createPool(hosts, 'test', 2);
  t.teardown(() => pool.end());
  const first = await firstConnection(pool);
  t.match(await first.query('SELECT 1 AS one'), { rows: [{ one: 1 }] });
  first.release();

  // An attempt that waited for the silent host would last as long as the connect timeout.
  const connectionTimeoutMillis = 60_000;
  const stopwatch = startStopwatch();
  const config = { ...clientConfig(hosts, 'test'), connectionTimeoutMillis };
  await withConnection(config, (client) => client.query('SELECT'));
  t.ok(stopwatch() < connectionTimeoutMillis / 4);
});

t.test('says why no host can be used', async (t) => {
  const { url } = await testDatabase(t);
  const both = severalHosts([{ url }, { url: 'postgres://127.0.0.1:1' }]) + READ_ONLY;
  const connecting = withConnection(clientConfig(both, 'test'), async () => undefined);
  const reasons = `${new URL(url).host}: read-only; 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1`;
  const error = new StorageUnavailable(`no host accepts writes (${reasons})`);
  await t.rejects(connecting, error);
});

t.test('gives up at the connect timeout while no host answers', async (t) => {
  const { url } = await testDatabase(t);
  const silent = await wireProxy(t, url);
  silent.hold();
  const stopwatch = startStopwatch();
  const config = clientConfig(severalHosts([silent, silent]), 'test');
  const connecting = withConnection({ ...config, connectionTimeoutMillis: 200 }, async () => 0);
  await t.rejects(connecting, { message: /^no host accepts writes/ });
  // Less than the time after which a connection attempt is given up.
  t.ok(stopwatch() < 2400);
});
