import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../harness/free-port.ts';
import { INHERITED_ENV } from '../harness/inherited-env.ts';
import { severalHosts } from '../harness/standby.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { wireProxy } from '../harness/wire-proxy.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { startDatabase } from './database.ts';
import { startPooler } from './pooler.ts';

const services = (file: string) => join(import.meta.dirname, '../services', file);
const WORKER = join(import.meta.dirname, '../workers/worker.ts');
const HOUR_MS = 3_600_000;
/** Much longer than it takes, as on a machine that does much else. */
const READY_WITHIN_MS = 300_000;

/** A process's clock offsets in milliseconds: the initial offset, then one for each jump. */
const clocks = (index: number) =>
  [0, HOUR_MS, -HOUR_MS, 30 * HOUR_MS].map((_, at, all) => all[(at + index) % all.length]).join();

const hasEnded = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode !== null || signalCode !== null;

async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

export type ProofEnvironment = Awaited<ReturnType<typeof createProofEnvironment>>;

/** What a mutant also changes in the database, as its owner can: a second protection. */
const DATABASE_MUTANTS: Readonly<Record<string, string>> = {
  'keep-salt': 'ALTER TABLE events DISABLE TRIGGER events_erase_salt',
};

interface Actor {
  name: string;
  file: string;
  env: Record<string, string>;
  child?: ChildProcess;
}

/**
 * Starts two web and two worker processes, and PostgreSQL behind a proxy, with a synchronous standby
 * that is also the read replica. One process of each kind connects through PgBouncer, if that is
 * installed, the other to the one of both servers that accepts writes. No two clocks agree.
 */
export async function createProofEnvironment(
  limits: Record<string, string>,
  mutant: string | undefined,
) {
  const { path: folder, remove } = temporaryFolder('proof');
  const logFile = join(folder, 'log');
  const database = await startDatabase(folder, logFile);
  await migrate(database.url());
  const tampering = DATABASE_MUTANTS[mutant ?? ''];
  if (tampering) await withConnection(database.url(), (client) => client.query(tampering));
  const ends: (() => Promise<void>)[] = [];
  const ending = { teardown: (end: () => Promise<void>) => ends.push(end) };
  const proxy = await wireProxy(ending, database.url());
  const replicaProxy = await wireProxy(ending, database.standbyUrl());
  const pooler = await startPooler(folder, proxy.url, logFile);
  if (pooler) ends.push(pooler.stop);

  const log = createWriteStream(logFile, { flags: 'a' });
  const answersFile = join(folder, 'answers');
  const answers = createWriteStream(answersFile);
  const ports = [await freePort(), await freePort()];
  const addresses = ports.map((web) => `http://127.0.0.1:${web}`);
  const serverKey = randomBytes(32).toString('hex');
  const sealKey = randomBytes(32).toString('hex');
  const common = {
    ...INHERITED_ENV,
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: proxy.url,
    DATABASE_DIRECT_URL: proxy.url,
    DATABASE_READ_URL: replicaProxy.url,
    REPLICA_MAX_LAG_SECONDS: '1',
    BASE_URL: addresses[0] ?? '',
    SERVER_KEYS: `1:${serverKey}`,
    TRUSTED_PROXIES: '1',
    METRICS_PORT: '0',
    UNDO_WINDOW_SECONDS: '3',
    ...limits,
    ...(mutant ? { PROOF_MUTANT: mutant } : {}),
  };
  // The first process of each kind finds the primary through the pooler, the second among both hosts.
  const urls = [pooler?.url ?? proxy.url, severalHosts([replicaProxy, proxy])];
  const envOf = (index: number) => ({ ...common, DATABASE_URL: urls[index] ?? proxy.url });
  const actors: Actor[] = [
    ...ports.map((web, index) => ({
      name: `web.${index + 1}`,
      file: services('web.ts'),
      env: { ...envOf(index), PORT: String(web), PROOF_CLOCK_MS: clocks(index) },
    })),
    ...[0, 1].map((index) => ({
      name: `worker.${index + 1}`,
      file: WORKER,
      env: { ...envOf(index), SEAL_KEY: sealKey, PROOF_CLOCK_MS: clocks(index + 2) },
    })),
  ];

  function start(actor: Actor): void {
    const imports = ['clock.ts', 'mutant.ts'].flatMap((file) => [
      '--import',
      join(import.meta.dirname, file),
    ]);
    const child = spawn(process.execPath, [...imports, actor.file], {
      env: actor.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Once the log was searched, it is closed.
    for (const output of [child.stdout, child.stderr])
      if (log.writableEnded) output.resume();
      else output.pipe(log, { end: false });
    actor.child = child;
  }

  /** Kills a process with SIGKILL and starts a replacement. */
  async function kill(name: string): Promise<void> {
    const actor = actors.find((one) => one.name === name);
    if (!actor?.child) return;
    await end(actor.child, 'SIGKILL');
    start(actor);
  }

  async function freeze(name: string, ms: number): Promise<void> {
    const child = actors.find((one) => one.name === name)?.child;
    child?.kill('SIGSTOP');
    await sleep(ms);
    child?.kill('SIGCONT');
  }

  /** Freezes one of PostgreSQL's client backends, together with the locks it holds. */
  async function freezeBackend(which: number, ms: number): Promise<void> {
    const { rows } = await withConnection(database.url(), (client) =>
      client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY pid`,
      ),
    );
    const pid = rows[which % rows.length]?.pid;
    if (!pid) return;
    process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    process.kill(pid, 'SIGCONT');
  }

  const moveClock = (name: string) =>
    actors.find((one) => one.name === name)?.child?.kill('SIGUSR2');

  async function failOver(ms: number): Promise<void> {
    await database.failOver(ms);
    proxy.redirect(database.url());
    replicaProxy.redirect(database.standbyUrl());
  }

  async function ready(): Promise<void> {
    for (let waited = 0; waited < READY_WITHIN_MS; waited += 100) {
      const answers = await Promise.all(
        addresses.map((base) => fetch(`${base}/readyz`).catch(() => undefined)),
      );
      // Restart processes that exited because the database was down when they started.
      for (const actor of actors) if (actor.child && hasEnded(actor.child)) start(actor);
      if (answers.every((answer) => answer?.status === 200)) return;
      await sleep(100);
    }
    throw new Error('the service did not become ready');
  }

  async function stop(names: readonly string[]): Promise<void> {
    await Promise.all(
      actors.map(async ({ name, child }) => {
        if (!names.includes(name) || !child) return;
        const late = setTimeout(() => child.kill('SIGKILL'), 30_000);
        await end(child, 'SIGTERM');
        clearTimeout(late);
      }),
    );
  }

  /** Where no secret may appear: all logs, all answers, and PostgreSQL's files with its WAL. */
  async function places(): Promise<string[]> {
    await Promise.all([log, answers].map((file) => new Promise<void>((ended) => file.end(ended))));
    return [logFile, answersFile, ...database.places()];
  }

  async function close(): Promise<void> {
    for (const { child } of actors) child?.kill('SIGKILL');
    for (const end of ends) await end();
    await database.stop();
    remove();
  }

  for (const actor of actors) start(actor);
  try {
    await ready();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: database.url,
    web: actors.map(({ name }) => name).filter((name) => name.startsWith('web')),
    workers: actors.map(({ name }) => name).filter((name) => name.startsWith('worker')),
    /** Keeps an answer, to be searched for secrets. */
    keep: (text: string) => answers.write(`${text}\n`),
    places,
    secrets: [serverKey, sealKey],
    addresses,
    env: common,
    proxy,
    kill,
    freeze,
    freezeBackend,
    moveClock,
    killPostgres: database.restart,
    loseReplica: database.loseStandby,
    pauseReplay: database.pauseReplay,
    pooler,
    failOver,
    ready,
    stop,
    close,
  };
}
