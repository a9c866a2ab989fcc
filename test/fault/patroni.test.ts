import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { type Api, type ApiResponse, createApi } from '../../harness/api.ts';
import { newCase } from '../../harness/cases.ts';
import { freePort } from '../../harness/free-port.ts';
import { startProgram } from '../../harness/programs.ts';
import { assertRebuilt } from '../../harness/rebuilt.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { readFeed } from '../../proof/cluster-clients.ts';
import { grantRoles } from '../../services/database-roles.ts';
import { writeConfig } from '../support/deploy-config.ts';
import { diagnose, runCli } from '../support/doctor.ts';
import { type Cluster, needsPatroni, startPatroni } from '../support/patroni.ts';
import { startProcess } from '../support/processes.ts';

// Most of it is the time that Patroni waits before it replaces a leader.
t.setTimeout(900_000);

const PLENTY = '1000000000';
const LIMITS = {
  LIMIT_KEY_ATTEMPTS: PLENTY,
  LIMIT_BOOTSTRAP_ATTEMPTS: PLENTY,
  LIMIT_REGISTRATIONS_PER_DAY: PLENTY,
  LIMIT_REGISTRATIONS_PER_HOUR: PLENTY,
  LIMIT_WRITES_PER_DAY: PLENTY,
  LIMIT_NOTES_PER_TEN_MINUTES: PLENTY,
  LIMIT_NOTES_PER_DAY: PLENTY,
  LIMIT_GUEST_NOTES_PER_HOUR: PLENTY,
};

/** The database of the service with its roles, each with its name as the password. */
async function prepareDatabase({
  urlOf,
  address,
  superuserUrl,
  untilSynchronous,
}: Cluster): Promise<void> {
  const leader = await untilSynchronous();
  await withConnection(superuserUrl(leader, 'postgres'), async (client) => {
    await client.query(`CREATE ROLE service_owner LOGIN PASSWORD 'service_owner'`);
    await client.query('CREATE DATABASE service OWNER service_owner');
  });
  await migrate(urlOf('service_owner', `${address[leader]}:5432`));
  await withConnection(superuserUrl(leader, 'service'), async (client) => {
    await grantRoles(client);
    await client.query(`ALTER ROLE service PASSWORD 'service'`);
  });
}

/** Starts HAProxy, two web processes and a worker; all of them find PostgreSQL through HAProxy. */
async function startServiceOn(t: Test, { address, urlOf }: Cluster) {
  const [port, postgresPort, ...webPorts] = await Promise.all(Array.from({ length: 4 }, freePort));
  const config = writeConfig(t, 'haproxy.cfg', {
    'maxconn 20000': 'maxconn 200',
    'bind :8080': `bind 127.0.0.1:${port}`,
    '127.0.0.1:3001': `127.0.0.1:${webPorts[0]}`,
    '127.0.0.1:3002': `127.0.0.1:${webPorts[1]}`,
    'bind 127.0.0.1:5000': `bind 127.0.0.1:${postgresPort}`,
    '192.0.2.11:': `${address.db1}:`,
    '192.0.2.12:': `${address.db2}:`,
    // A process that a busy machine does not run for a second is not down.
    'default-server inter 1s': 'timeout check 60s\n    default-server inter 1s',
  });
  t.teardown((await startProgram('haproxy', ['-db', '-f', config], String(port), 'ignore')).kill);
  const base = `http://127.0.0.1:${port}`;
  const throughProxy = `127.0.0.1:${postgresPort}`;
  const env = {
    DATABASE_URL: urlOf('service', throughProxy),
    SERVER_KEYS: `1:${'5e'.repeat(32)}`,
    BASE_URL: base,
    TRUSTED_PROXIES: '1',
    LOG_LEVEL: 'silent',
    ...LIMITS,
  };
  const start = (name: 'web' | 'worker', settings = {}) =>
    startProcess(t, name, ['ignore', 'ignore', 'inherit'], { ...env, ...settings });
  const processes = await Promise.all([
    ...webPorts.map((PORT) => start('web', { PORT })),
    start('worker'),
  ]);
  await Promise.all(processes.map(({ untilServes }) => untilServes()));
  while ((await fetch(`${base}/readyz`)).status !== 200) await sleep(50);
  return { base, env, ownerUrl: urlOf('service_owner', throughProxy), processes };
}

/** What clients see who repeat each write until it is acknowledged, and then begin the next. */
function startWriters(api: Api) {
  const acknowledgedAt: number[] = [];
  const refusals = new Map<string, number>();
  const wrong: string[] = [];
  const notes: string[] = [];
  const cases: string[] = [];
  let slowestMs = 0;
  let over = false;

  async function untilAcknowledged(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
    for (const began = performance.now(); ; await sleep(100)) {
      const answer = await send().catch((error: Error) => error);
      if (!(answer instanceof Error) && answer.status < 300) {
        acknowledgedAt.push(performance.now());
        slowestMs = Math.max(slowestMs, performance.now() - began);
        return answer;
      }
      const reason =
        answer instanceof Error
          ? 'no answer'
          : `${answer.status} ${answer.body?.error?.code ?? answer.text}`;
      refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
      if (reason !== 'no answer' && !reason.startsWith('503 ')) {
        wrong.push(reason);
        return answer as ApiResponse;
      }
    }
  }

  async function writeNotes(): Promise<void> {
    while (!over) {
      const body = { id: randomUUID(), name: 'Ada', message: 'Hello' };
      await untilAcknowledged(() => api.call('POST', '/api/guestbook', { body }));
      notes.push(body.id);
    }
  }

  async function openCases(agent: Awaited<ReturnType<typeof newAgent>>): Promise<void> {
    while (!over) {
      const headers = { 'idempotency-key': randomUUID() };
      const answer = await untilAcknowledged(() =>
        agent.call('POST', '/api/v1/cases', newCase(), headers),
      );
      cases.push(answer.body.case.id);
    }
  }

  const agents = Promise.all(Array.from({ length: 4 }, () => newAgent(api)));
  const writing = agents.then((all) =>
    Promise.all([...all.map(openCases), ...Array.from({ length: 4 }, writeNotes)]),
  );
  writing.catch(() => undefined);
  return {
    agents,
    notes,
    cases,
    refusals,
    wrong,
    /** Resolves when so many more writes were acknowledged. */
    async untilAcknowledged(count: number): Promise<void> {
      const end = acknowledgedAt.length + count;
      while (acknowledgedAt.length < end) await Promise.race([sleep(50), writing]);
    },
    async stop() {
      over = true;
      await writing;
      const pauses = acknowledgedAt.map((at, index) => at - (acknowledgedAt[index - 1] ?? at));
      return { slowestMs, pauseMs: Math.max(...pauses), count: acknowledgedAt.length };
    },
  };
}

t.test(
  'loses nothing acknowledged when the machine of the leader fails under load',
  needsPatroni(),
  async (t) => {
    const cluster = await startPatroni(t);
    await prepareDatabase(cluster);
    const { base, env, ownerUrl, processes } = await startServiceOn(t, cluster);
    const writers = startWriters(createApi(base));
    await writers.untilAcknowledged(200);

    const old = await cluster.untilSynchronous();
    await cluster.kill(old);
    const killedAt = performance.now();
    const next = old === 'db1' ? 'db2' : 'db1';
    while ((await cluster.members()).find(({ role }) => role === 'leader')?.name !== next)
      await sleep(100);
    const promotedMs = performance.now() - killedAt;
    await writers.untilAcknowledged(200);
    const { slowestMs, pauseMs, count } = await writers.stop();
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
    console.error(
      `${count} writes; a leader after ${seconds(promotedMs)}, ${seconds(pauseMs)} without an accepted write, the slowest took ${seconds(slowestMs)}; ${JSON.stringify(Object.fromEntries(writers.refusals))}`,
    );
    t.same(writers.wrong, []);

    t.match(await diagnose('log', env), { lines: [/^bad .*restored -- --nothing-lost/] });
    const owner = { ...env, DATABASE_URL: ownerUrl };
    t.match(await runCli(['cli/restored.ts', '--nothing-lost'], owner), { code: 0 });
    t.match(await diagnose('log', env), { lines: [/^ok /] });

    cluster.start(old);
    t.equal(await cluster.untilSynchronous(), next, 'the old leader is a standby');

    const api = createApi(base);
    const agents = await writers.agents;
    for (const agent of agents) {
      const feed = await readFeed(agent.call);
      t.same(
        feed.map(({ sequence }) => sequence),
        feed.map((_, index) => index + 1),
        'the feed has no gap',
      );
    }
    t.equal((await api.call('GET', '/readyz')).status, 200);
    for (const { child } of processes) child.kill('SIGTERM');
    await Promise.all(processes.map(({ end }) => end()));

    const pool = new pg.Pool({ connectionString: cluster.superuserUrl(next, 'service') });
    t.teardown(() => pool.end());
    const written = async (type: string) => {
      const text = 'SELECT right(stream_id, 36) AS id FROM events WHERE type = $1 ORDER BY id';
      return (await pool.query<{ id: string }>(text, [type])).rows.map(({ id }) => id);
    };
    t.same(await written('NoteSubmitted'), writers.notes.toSorted(), 'each note once');
    t.same(await written('CaseOpened'), writers.cases.toSorted(), 'each case once');
    await assertRebuilt(pool);
  },
);
