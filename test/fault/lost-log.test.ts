import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { newAgent, toAuthorization } from '../../harness/agent.ts';
import { continueEpoch } from '../../platform/eventstore/log-epochs.ts';
import { formatServerKeys } from '../../platform/keys/server-keys.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { keepRequestTime } from '../support/request-time.ts';
import { beginTestEpoch } from '../support/restored-log.ts';
import { startService } from '../support/service.ts';
import { untilReadyz } from '../support/until-readyz.ts';

keepRequestTime(t);

/** A service whose database is replaced by a copy from before its last write, as by a restore. */
async function startWithLostWrite(t: Test) {
  const service = await startService(t);
  const { call, database } = service;
  const post = () =>
    call('POST', '/api/guestbook', { body: { id: randomUUID(), message: 'Hello' } });
  t.equal((await post()).status, 202);
  const pids = async (): Promise<number[]> =>
    (
      await database.pool.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'service test'`,
      )
    ).rows.map(({ pid }) => pid);

  async function cutConnections(): Promise<void> {
    const before = await pids();
    await database.pool.query('SELECT pg_terminate_backend(pid, 5000) FROM unnest($1::int[]) pid', [
      before,
    ]);
  }

  /** Takes back all events, as a restore of an older backup does. */
  async function loseLog(): Promise<void> {
    await withConnection(database.url, async (client) => {
      await client.query(`SET session_replication_role = 'replica'`);
      await client.query('DELETE FROM events');
    });
    await service.tamper('SELECT');
    await cutConnections();
  }
  return { ...service, service, post, cutConnections, loseLog };
}

t.test('refuses commands while acknowledged writes are missing', async (t) => {
  const { service, post, loseLog, call, core, logged } = await startWithLostWrite(t);
  await loseLog();
  t.match(await post(), { status: 503, body: { error: { code: 'storage_unavailable' } } });
  t.ok(core.logWatch.isLost());
  t.equal(
    logged.filter((line) => /"level":"fatal".*acknowledged writes are lost/.test(line)).length,
    1,
  );
  t.equal((await call('GET', '/readyz?for=proxy')).status, 503);
  await untilReadyz({ call }, 503);
  t.equal((await call('GET', '/api/guestbook')).status, 200, 'reads are answered');
  const { rowCount } = await service.database.pool.query('SELECT FROM events');
  t.equal(rowCount, 0, 'nothing was written, not even by the command that noticed');

  await beginTestEpoch(service);
  await untilReadyz({ call }, 200);
  t.equal((await call('GET', '/readyz?for=proxy')).status, 200);
  t.equal((await post()).status, 202);
});

t.test('checks a new connection before it is used', async (t) => {
  const { database } = await startService(t);
  let checked = false;
  const pool = createPool(database.url, 'test', 1, async (client) => {
    await client.query('SELECT pg_sleep(0.1)');
    checked = true;
  });
  const client = await pool.connect();
  t.ok(checked);
  client.release();
  await pool.end();
});

t.test('a lost connection alone changes nothing', async (t) => {
  const { post, cutConnections, call, core } = await startWithLostWrite(t);
  await cutConnections();
  t.equal((await post()).status, 202);
  await untilReadyz({ call }, 200);
  t.notOk(core.logWatch.isLost());
});

t.test('starts as lost on a server that no epoch notes, until the server is noted', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const { next_cursor: cursor } = (await agent.call('GET', '/api/v1/updates')).body;
  const { url, pool } = service.database;
  const elsewhere = async (server: string) => {
    await pool.query('UPDATE log_epochs SET server = $1', [server]);
    const env = { SERVER_KEYS: formatServerKeys(service.core.config.serverKeys ?? []) };
    return startService(t, env, service.database);
  };
  const { rows } = await pool.query('SELECT server FROM log_epochs');
  const [system] = rows[0].server.split('/');
  const submit = ({ call }: Pick<typeof service, 'call'>) =>
    call('POST', '/api/guestbook', { body: { id: randomUUID(), message: 'Hello' } });
  for (const server of [`${system}/00000000`, '1/00000001']) {
    const next = await elsewhere(server);
    const headers = { authorization: toAuthorization(agent.credential) };
    const updates = () => next.call('GET', `/api/v1/updates?cursor=${cursor}`, { headers });
    t.ok(next.core.logWatch.isLost());
    t.match(
      next.logged.join(''),
      /"level":"fatal".*not on the server of its epoch.*--nothing-lost/,
    );
    t.equal((await next.call('GET', '/readyz?for=proxy')).status, 503);
    t.match(await submit(next), { status: 503, body: { status: 'storage_unavailable' } });
    t.match(await updates(), { status: 503, body: { status: 'storage_unavailable' } });
    t.equal((await next.call('GET', '/api/guestbook')).status, 200, 'reads are answered');
    await withConnection(url, continueEpoch);
    await untilReadyz(next, 200);
    t.equal((await submit(next)).status, 202);
    t.equal((await updates()).status, 200);
  }
});

t.test('goes on after a promotion that a running process has seen', async (t) => {
  const { post, cutConnections, service, core } = await startWithLostWrite(t);
  const { pool } = service.database;
  const { rows } = await pool.query('SELECT server FROM log_epochs');
  const [system] = rows[0].server.split('/');
  await pool.query('UPDATE log_epochs SET server = $1', [`${system}/00000000`]);
  await cutConnections();
  t.equal((await post()).status, 202);
  await pool.query(`UPDATE log_epochs SET server = '1/00000001'`);
  await cutConnections();
  t.equal((await post()).status, 503, 'another server');
  t.ok(core.logWatch.isLost());
});
