import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { testDatabase } from './database.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const STARTS_WITHIN_MS = 180_000;

/** The processes that can be started, and where each reports that it is ready. */
const PROCESSES = {
  web: { file: 'services/web.ts', port: 'PORT', path: '/readyz' },
  worker: { file: 'workers/worker.ts', port: 'WORKER_METRICS_PORT', path: '/metrics' },
} as const;

/** Starts the real process on a new database. */
export async function startProcess(
  t: Test,
  name: keyof typeof PROCESSES,
  stdio: StdioOptions,
  settings: Record<string, string> = {},
) {
  const { file, port, path } = PROCESSES[name];
  const { url } = await testDatabase(t);
  const env: Record<string, string> = {
    DATABASE_URL: url,
    SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    METRICS_PORT: '0',
    [port]: await freePort(),
    ...settings,
  };
  const child: ChildProcess = spawn(process.execPath, [join(ROOT, file)], {
    env: { ...INHERITED_ENV, ...env },
    stdio,
  });
  t.teardown(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>;
  const base = `http://127.0.0.1:${env[port]}`;

  async function serves(): Promise<boolean> {
    const answer = await fetch(`${base}${path}`).catch(() => undefined);
    await answer?.text();
    return answer?.status === 200;
  }

  async function untilServes(): Promise<void> {
    for (const end = Date.now() + STARTS_WITHIN_MS; !(await serves()); await sleep(50))
      if (Date.now() > end || child.exitCode !== null)
        throw new Error(`${name} does not serve; exit status ${child.exitCode}`);
  }

  /** Exit code and signal; the file's time limit ends a wait that is in vain. */
  const end = () => exit;

  return { child, base, serves, untilServes, end };
}
