import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { newAgent } from '../../harness/agent.ts';
import type { Api } from '../../harness/api.ts';
import { patient } from '../../harness/patient.ts';
import { inMemory, temporaryFolder } from '../../harness/temporary-folder.ts';
import { embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { keepRequestTime } from '../support/request-time.ts';
import { startService } from '../support/service.ts';
import { startStopwatch } from '../support/stopwatch.ts';

keepRequestTime(t);

const POOL_SIZE = 4;
const LIMIT_MS = 3300;

/** The service on a PostgreSQL of its own, which `loseStandby` makes wait for a standby. */
async function startWithStandby(t: Test) {
  const folder = temporaryFolder('standby', inMemory());
  const server = await embeddedPostgres({
    dataDir: join(folder.path, 'data'),
    settings: { fsync: 'off', full_page_writes: 'off' },
  });
  const admin = new pg.Pool({ connectionString: server.url, max: 2 });
  admin.on('error', () => undefined);
  t.teardown(async () => {
    await admin.end();
    await server.stop();
    folder.remove();
  });
  await migrate(server.url);

  async function nameStandbys(names: string): Promise<void> {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await admin.query('SELECT pg_reload_conf()');
    const read = `SELECT current_setting('synchronous_standby_names') AS names`;
    while ((await admin.query(read)).rows[0].names !== names) await sleep(10);
  }
  const waitingPids = async (): Promise<number[]> => {
    const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    return (await admin.query<{ pid: number }>(waiting)).rows.map(({ pid }) => pid);
  };

  /** Commits begin to wait when the checkpointer has read the setting, which no query shows. */
  async function untilCommitsWait(): Promise<void> {
    let waited = false;
    const name = 'awaits a standby';
    const client = new pg.Client({ connectionString: server.url, application_name: name });
    client.on('notice', () => {
      waited = true;
    });
    await client.connect();
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE application_name = $1 AND wait_event = 'SyncRep'`;
    while (!waited) {
      let committed = false;
      const commit = client.query(`SELECT pg_logical_emit_message(true, 'test', '')`).then(() => {
        committed = true;
      });
      while (!committed) await admin.query(cancel, [name]);
      await commit;
    }
    await client.end();
  }

  const service = await startService(t, {
    DATABASE_URL: server.url,
    DATABASE_POOL_SIZE: String(POOL_SIZE),
    GROUP_COMMIT: 'off',
  });
  // Runs before the service closes, which waits for its connections.
  t.teardown(() => nameStandbys(''));
  const post = async (id: string = randomUUID(), api: Api = service) => {
    const stopwatch = startStopwatch();
    const answer = await api.call('POST', '/api/guestbook', { body: { id, message: 'Hello' } });
    return {
      id,
      status: answer.status,
      code: answer.body.error?.code,
      ms: stopwatch(),
    };
  };
  const isRecorded = async (id: string): Promise<boolean> =>
    (await admin.query('SELECT FROM notes WHERE note_id = $1', [id])).rowCount === 1;
  /** The answers to an orchestrator and to a proxy. */
  const probe = async (): Promise<number[]> => [
    (await service.call('GET', '/readyz')).status,
    (await service.call('GET', '/readyz?for=proxy')).status,
  ];
  return {
    ...service,
    service,
    admin,
    post,
    probe,
    isRecorded,
    waitingPids,
    loseStandby: async () => {
      await nameStandbys('nobody');
      await untilCommitsWait();
    },
    regainStandby: () => nameStandbys(''),
  };
}

t.test('a write that no standby has is neither acknowledged nor visible', async (t) => {
  const { service, post, probe, isRecorded, waitingPids, loseStandby, regainStandby, call, core } =
    await startWithStandby(t);
  t.same(await probe(), [200, 200], 'ready before');
  await loseStandby();
  const first = await post();
  t.match(first, { status: 503, code: 'outcome_unconfirmed' });
  t.ok(first.ms < LIMIT_MS, `${Math.round(first.ms)} ms`);
  t.equal(await isRecorded(first.id), false);
  t.ok(core.store.waitsForStandby());

  const second = await post(first.id);
  t.match(second, { status: 503, code: 'storage_unavailable' }, 'nothing happened meanwhile');
  t.equal((await call('GET', '/api/guestbook')).status, 200);
  t.same(await probe(), [200, 200], 'ready, since it can read');

  await regainStandby();
  while ((await waitingPids()).length > 0) await sleep(10);
  t.equal(await isRecorded(first.id), true);
  t.same(await probe(), [200, 200], 'ready afterwards');
  const again = patient(service);
  t.match(await post(first.id, again), { status: 200 }, 'the receipt is replayed');
  t.match(await post(randomUUID(), again), { status: 202 });
});

t.test('a commit whose wait somebody ended is not acknowledged', async (t) => {
  const { service, post, probe, isRecorded, admin, waitingPids, loseStandby, regainStandby } =
    await startWithStandby(t);
  await loseStandby();
  const posting = post();
  let pids = await waitingPids();
  for (; pids.length === 0; pids = await waitingPids()) await sleep(10);
  await admin.query('SELECT pg_terminate_backend($1)', [pids[0]]);
  const answer = await posting;
  t.match(answer, { status: 503, code: 'outcome_unconfirmed' });
  t.equal(await isRecorded(answer.id), true, 'visible, though no standby has it');

  const replayed = await post(answer.id);
  t.equal(replayed.status, 503, 'no receipt is replayed either');
  t.same(await probe(), [200, 200], 'ready, since the commit is there');
  await regainStandby();
  t.match(await post(answer.id, patient(service)), { status: 200 });
});

t.test('commands that wait for a standby leave room for reads', async (t) => {
  const { post, probe, call, core, isRecorded, waitingPids, loseStandby, regainStandby } =
    await startWithStandby(t);
  await loseStandby();
  const answers: Awaited<ReturnType<typeof post>>[] = [];
  const reads: number[] = [];
  let mostWaiting = 0;
  let over = false;
  const reading = (async () => {
    // Until the loss is noticed, reads wait behind the commands that have the connections.
    while (!core.store.waitsForStandby()) await sleep(10);
    // A busy machine may refuse reads until the connections that are cut then are replaced.
    while ((await call('GET', '/api/guestbook')).status !== 200) await sleep(10);
    for (let round = 0; round < 5; round++) {
      reads.push((await call('GET', '/api/guestbook')).status, ...(await probe()));
      mostWaiting = Math.max(mostWaiting, (await waitingPids()).length);
      await sleep(100);
    }
    over = true;
  })();
  do answers.push(...(await Promise.all(Array.from({ length: 20 }, () => post()))));
  while (!over);
  await reading;
  t.same([...new Set(reads)], [200]);
  t.ok(mostWaiting <= POOL_SIZE + 1, `${mostWaiting} server processes wait`);
  t.ok(answers.every(({ status, ms }) => status === 503 && ms < LIMIT_MS));

  await regainStandby();
  while ((await waitingPids()).length > 0) await sleep(10);
  for (const { id, code } of answers)
    if (code === 'storage_unavailable') t.equal(await isRecorded(id), false, 'refused');
});

t.test('a feed shows nothing that only a restarted primary has', async (t) => {
  const { call, core, probe, loseStandby, regainStandby, service } = await startWithStandby(t);
  const agent = await newAgent(service);
  const read = () => agent.call('GET', '/api/v1/updates');
  t.equal((await read()).status, 200, 'without standbys');
  await loseStandby();
  // This process has not confirmed the present start of the server yet, as after a restart.
  t.match(await read(), { status: 503, body: { error: { code: 'storage_unavailable' } } });
  t.equal((await call('GET', '/api/guestbook')).status, 200);
  t.same(await probe(), [200, 200], 'ready for everything but feeds');
  await regainStandby();
  while (core.store.waitsForStandby()) await sleep(10);
  const headers = { authorization: agent.authorization };
  t.equal((await patient(service).call('GET', '/api/v1/updates', { headers })).status, 200);
});
