import t from 'tap';
import { newRegistration } from '../../harness/registration.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { keepRequestTime } from '../support/request-time.ts';
import { startService } from '../support/service.ts';
import { untilReadyz } from '../support/until-readyz.ts';

keepRequestTime(t);

t.test('serves reads from the primary when the replica cannot be reached', async (t) => {
  const service = await startService(t, {
    DATABASE_READ_URL: 'postgres://nobody@127.0.0.1:1/none',
  });
  t.equal((await service.call('GET', '/api/guestbook')).status, 200);
  t.equal((await service.call('GET', '/readyz')).status, 200);
  t.equal((await service.call('GET', '/api/v1/status')).status, 200);
});

t.test('reports storage as unavailable when the database refuses connections', async (t) => {
  const service = await startService(t);
  const { url } = service.database;
  const name = new URL(url).pathname.slice(1);
  const admin = new URL(url);
  admin.pathname = '/postgres';
  const allowConnections = (yes: boolean) =>
    withConnection(admin.href, async (client) => {
      await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${yes}`);
      const ended =
        'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1';
      if (!yes) await client.query(ended, [name]);
    });
  t.equal((await service.call('GET', '/readyz')).status, 200);
  await allowConnections(false);
  await untilReadyz(service, 503);
  t.equal((await service.call('GET', '/readyz?for=proxy')).status, 200, 'passes requests on');
  t.match(
    await service.call('GET', '/api/v1/status'),
    { status: 503, body: { status: 'storage_unavailable' } },
    'the status route repeats the last result',
  );
  const read = await service.call('GET', '/api/guestbook');
  t.equal(read.status, 503, read.text);
  const body = newRegistration();
  const written = await service.call('POST', '/api/membership/register', { body });
  t.equal(written.body.error.code, 'storage_unavailable');
  const logLines = service.logged.filter((line) => /"storage_unavailable"/.test(line)).join('');
  t.match(logLines, /"cause":{[^}]*"code":"55000"/, "the log has the database's error code");
  await allowConnections(true);
  t.equal((await service.call('POST', '/api/membership/register', { body })).status, 200);
});
