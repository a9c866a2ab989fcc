import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { answered, asking, callA2a } from '../../harness/a2a.ts';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { publishProfile } from '../../harness/records.ts';
import { type Server, severalHosts, startStandby } from '../../harness/standby.ts';
import { inMemory, temporaryFolder } from '../../harness/temporary-folder.ts';
import { embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { runningPostmaster } from '../../platform/embedded/postmaster.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { runRead } from '../../platform/postgres/query.ts';
import { asJob } from '../../platform/postgres/request-deadline.ts';
import { FAST } from '../support/failing-over.ts';
import { startService } from '../support/service.ts';
import { untilReadyz } from '../support/until-readyz.ts';

/** Longer than a busy machine takes for a write and a read, in which the replica is still used. */
const MAX_LAG_SECONDS = 10;

/** The service on a primary of its own, with read replicas that stream from it; `admin` is on the first. */
async function startWithReplica(t: Test, { count = 1, maxLagSeconds = MAX_LAG_SECONDS } = {}) {
  const folder = temporaryFolder('replica', inMemory());
  const dataDir = join(folder.path, 'primary');
  const primary: Server = { ...(await embeddedPostgres({ dataDir, settings: FAST })), dataDir };
  await migrate(primary.url);
  const replicas: Server[] = [];
  for (let index = 0; index < count; index++) {
    const name = `replica${index}`;
    replicas.push(await startStandby(primary, join(folder.path, name), name, FAST));
  }
  const [replica] = replicas as [Server];
  const admin = new pg.Pool({ connectionString: replica.url, max: 1 });
  admin.on('error', () => undefined);
  t.teardown(async () => {
    await admin.end();
    for (const each of replicas) await each.stop();
    await primary.stop();
    folder.remove();
  });
  const service = await startService(t, {
    DATABASE_URL: primary.url,
    DATABASE_READ_URL: severalHosts(replicas),
    REPLICA_MAX_LAG_SECONDS: String(maxLagSeconds),
  });
  const countUsed = () => service.core.replicas?.countUsable();
  const isUsed = () => countUsed() === count;
  while (!isUsed()) await sleep(20);
  const pid = runningPostmaster(join(replica.dataDir, 'postgres', 'data'))?.pid ?? 0;
  return { ...service, service, admin, countUsed, isUsed, pid };
}

function childrenOf(pid: number): number[] {
  const running = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return running.map(Number).filter((one) => {
    try {
      return readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === `${pid}`;
    } catch {
      return false;
    }
  });
}

/** Sends a signal to processes of which one may end by itself, or because another has ended. */
function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
}

/**
 * Publishes a profile that the first replica does not replay, and reads it until each of these statuses was seen. Begins
 * again if a busy machine takes so long that a replica is left out.
 */
async function publishUnreplayed(
  { service, call, admin, isUsed }: Awaited<ReturnType<typeof startWithReplica>>,
  statuses: readonly number[],
) {
  for (;;) {
    const agent = await newAgent(service);
    await admin.query('SELECT pg_wal_replay_pause()');
    const { path } = await publishProfile(agent);
    const seen = new Set<number>();
    while (isUsed()) {
      seen.add((await call('GET', path)).status);
      if (statuses.every((status) => seen.has(status))) return { agent, path };
    }
    await admin.query('SELECT pg_wal_replay_resume()');
    while (!isUsed()) await sleep(50);
  }
}

t.test('reads from the replica, and from the primary what the caller has written', async (t) => {
  const started = await startWithReplica(t);
  const { service, call, admin, isUsed } = started;
  const { agent, path } = await publishUnreplayed(started, [404]);
  t.pass('an anonymous read uses the replica');
  const headers = { authorization: agent.authorization };
  t.equal((await call('GET', path, { headers })).status, 200, 'the author uses the primary');
  const own = asking('agents.get', { member_id: path.split('/').pop() });
  t.equal(answered(await callA2a(service, agent, own)).status, 200, 'over A2A too');
  const written = await fetch(`${service.baseUrl}${path}`, { headers: { cookie: 'wrote=1' } });
  t.equal(written.status, 200, 'and so does a browser that wrote a moment ago');

  while (isUsed()) await sleep(50);
  t.equal((await call('GET', path)).status, 200, 'a replica that lags is left out');
  await admin.query('SELECT pg_wal_replay_resume()');
  while (!isUsed()) await sleep(50);
  t.equal((await call('GET', path)).status, 200);
});

t.test('shares reads among replicas, and leaves out only the one that lags', async (t) => {
  const started = await startWithReplica(t, { count: 2 });
  const { call, admin, countUsed } = started;
  // One has the profile as soon as it has replayed it; the other does not.
  const { path } = await publishUnreplayed(started, [200, 404]);
  const read = async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 10; n++) statuses.push((await call('GET', path)).status);
    return [...new Set(statuses)].sort();
  };
  while (countUsed() !== 1) await sleep(50);
  t.same(await read(), [200]);
  await admin.query('SELECT pg_wal_replay_resume()');
  while (countUsed() !== 2) await sleep(50);
});

t.test('shows writers their own note, also among concurrent readers', async (t) => {
  const { service, call, admin } = await startWithReplica(t, { maxLagSeconds: 60 });
  const ann = await addModerator(service, 'Ann');
  await admin.query('SELECT pg_wal_replay_pause()');
  const note = await submit(service);
  await decide(ann, note.id, 'approve');

  const read = async (cookie?: string) => {
    const { body } = await call('GET', '/api/guestbook', { cookie });
    return body.entries.length;
  };
  let readers: number[];
  do {
    const reads = [read(), read('wrote=1'), read(), read('wrote=1')] as const;
    const [one, writer, other, another] = await Promise.all(reads);
    t.same([writer, another], [1, 1], 'each writer sees the note');
    readers = [one, other];
    // The primary answers readers while the replica is measured late.
  } while (readers.some((count) => count !== 0));
});

t.test('tells a browser that wrote to read from the primary for as long as the lag', async (t) => {
  const { service } = await startWithReplica(t);
  const answer = await fetch(`${service.baseUrl}/api/membership/logout`, {
    method: 'POST',
    headers: { origin: service.baseUrl, 'content-type': 'application/json' },
    body: '{}',
  });
  t.equal(answer.status, 200);
  const submitted = await fetch(`${service.baseUrl}/api/guestbook`, {
    method: 'POST',
    headers: { origin: service.baseUrl, 'content-type': 'application/json' },
    body: JSON.stringify({ id: crypto.randomUUID(), message: 'Hello' }),
  });
  t.equal(submitted.status, 202);
  t.match(submitted.headers.get('set-cookie'), `wrote=1; Max-Age=${MAX_LAG_SECONDS};`);
});

for (const [signal, what] of [
  ['SIGSTOP', 'stands still'],
  ['SIGKILL', 'is killed'],
] as const)
  t.test(`no read fails when the replica ${what}`, async (t) => {
    const { service, call, isUsed, pid } = await startWithReplica(t);
    await newAgent(service);
    const pids = [pid, ...childrenOf(pid)];
    signalAll(pids, signal);
    t.teardown(() => {
      if (signal === 'SIGSTOP') signalAll(pids, 'SIGCONT');
    });
    const statuses: number[] = [];
    for (let n = 0; n < 200; n++) statuses.push((await call('GET', '/api/v1/agents')).status);
    t.same([...new Set(statuses)], [200]);
    t.notOk(isUsed());
    await untilReadyz({ call }, 200);
  });

t.test('leaves half of the connections to others while the primary takes the reads', async (t) => {
  const { service, isUsed, pid } = await startWithReplica(t);
  signalAll([pid, ...childrenOf(pid)], 'SIGKILL');
  while (isUsed()) await sleep(20);
  const { readPool, config } = service.core;
  let [running, most] = [0, 0];
  const slow = () =>
    runRead(readPool, async (client) => {
      most = Math.max(most, ++running);
      await client.query('SELECT pg_sleep(0.2)');
      running--;
    });
  // As jobs, which have more time than requests.
  await asJob(() => Promise.all(Array.from({ length: 2 * config.databasePoolSize }, slow)));
  t.equal(most, Math.floor(config.databasePoolSize / 2));
});
