import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { embeddedPostgres } from '../services/embedded/postgres.ts';
import { runningPostmaster } from '../services/embedded/postmaster.ts';
import { migrate } from '../services/migrate.ts';
import { freePort } from '../test/harness/free-port.ts';
import { temporaryFolder } from '../test/harness/temporary-folder.ts';
import { wireProxy } from '../test/harness/wire-proxy.ts';

const services = (file: string) => join(import.meta.dirname, '../services', file);
const WORKER = join(import.meta.dirname, '../workers/worker.ts');
const HOUR_MS = 3_600_000;

export type Stage = Awaited<ReturnType<typeof openStage>>;

interface Actor {
  name: string;
  file: string;
  env: Record<string, string>;
  child?: ChildProcess;
}

/** Two web and two worker processes, PostgreSQL, and a proxy on its wire; one clock is an hour off. */
export async function openStage(limits: Record<string, string>, mutant: string | undefined) {
  const { path: folder, remove } = temporaryFolder('proof');
  const dataDir = join(folder, 'data');
  const port = await freePort();
  const startPostgres = () =>
    embeddedPostgres({ dataDir, settings: { port, max_connections: 200 } });
  let postgres = await startPostgres();
  const home = realpathSync(join(dataDir, 'postgres'));
  await migrate(postgres.url);
  const ends: (() => Promise<void>)[] = [];
  const proxy = await wireProxy({ teardown: (end) => ends.push(end) }, postgres.url);

  const log = createWriteStream(join(folder, 'log'));
  const ports = [await freePort(), await freePort()];
  const addresses = ports.map((web) => `http://127.0.0.1:${web}`);
  const common = {
    PATH: process.env.PATH ?? '',
    DATA_DIR: dataDir,
    DATABASE_URL: proxy.url,
    DATABASE_DIRECT_URL: proxy.url,
    BASE_URL: addresses[0] ?? '',
    SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    METRICS_PORT: '0',
    UNDO_WINDOW_SECONDS: '3',
    ...limits,
    ...(mutant ? { PROOF_MUTANT: mutant } : {}),
  };
  const actors: Actor[] = [
    ...ports.map((web, index) => ({
      name: `web.${index + 1}`,
      file: services('web.ts'),
      env: { ...common, PORT: web, PROOF_CLOCK_MS: String(index * HOUR_MS) },
    })),
    ...[1, 2].map((index) => ({
      name: `worker.${index}`,
      file: WORKER,
      env: { ...common, PROOF_CLOCK_MS: String(-HOUR_MS * (index - 1)) },
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
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    actor.child = child;
  }

  /** Ends a process at once, and starts another in its place. */
  async function kill(name: string): Promise<void> {
    const actor = actors.find((one) => one.name === name);
    if (!actor?.child) return;
    const ended = once(actor.child, 'exit');
    actor.child.kill('SIGKILL');
    await ended;
    start(actor);
  }

  async function freeze(name: string, ms: number): Promise<void> {
    const child = actors.find((one) => one.name === name)?.child;
    child?.kill('SIGSTOP');
    await sleep(ms);
    child?.kill('SIGCONT');
  }

  async function killPostgres(): Promise<void> {
    const running = runningPostmaster(join(home, 'data'));
    if (running) process.kill(running.pid, 'SIGKILL');
    await postgres.died;
    await postgres.stop();
    postgres = await startPostgres();
  }

  async function ready(): Promise<void> {
    for (let waited = 0; waited < 60_000; waited += 100) {
      const answers = await Promise.all(
        addresses.map((base) => fetch(`${base}/readyz`).catch(() => undefined)),
      );
      // A worker that could not begin while storage was gone has ended: it begins again.
      for (const actor of actors) if (actor.child?.exitCode != null) start(actor);
      if (answers.every((answer) => answer?.status === 200)) return;
      await sleep(100);
    }
    throw new Error('the service did not become ready within a minute');
  }

  async function stopProcesses(): Promise<void> {
    await Promise.all(
      actors.map(async ({ child }) => {
        if (!child || child.exitCode !== null) return;
        const ended = once(child, 'exit');
        child.kill('SIGCONT');
        child.kill('SIGTERM');
        const late = setTimeout(() => child.kill('SIGKILL'), 30_000);
        await ended;
        clearTimeout(late);
      }),
    );
  }

  async function close(): Promise<void> {
    for (const { child } of actors) child?.kill('SIGKILL');
    for (const end of ends) await end();
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
    remove();
  }

  for (const actor of actors) start(actor);
  await ready();
  return {
    url: () => postgres.url,
    names: actors.map(({ name }) => name),
    logFile: join(folder, 'log'),
    walFolder: join(home, 'data', 'pg_wal'),
    addresses,
    env: common,
    proxy,
    kill,
    freeze,
    killPostgres,
    ready,
    stopProcesses,
    close,
  };
}
