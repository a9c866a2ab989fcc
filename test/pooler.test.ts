import t from 'tap';
import { testDatabase } from './harness/database.ts';
import { pooler } from './harness/pooler.ts';
import { newRegistration, startService } from './harness/service.ts';

t.test('the service works through a transaction pooler', async (t) => {
  const database = await testDatabase(t);
  const service = await startService(t, {
    DATABASE_URL: await pooler(t, database.url),
    DATABASE_DIRECT_URL: database.url,
  });
  const { call, core } = service;
  t.equal((await call('GET', '/readyz')).status, 200);
  const registered = await call('POST', '/api/membership/register', { body: newRegistration() });
  t.equal(registered.status, 200, registered.text);
  t.match((await core.pool.query('SHOW statement_timeout')).rows, [
    { statement_timeout: '2500ms' },
  ]);
});
