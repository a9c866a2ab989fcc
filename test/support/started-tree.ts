import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { testDatabase } from './database.ts';

const READY_MS = 120_000;

/** Starts the Procfile of an installation with the given Node, on an empty database. */
export async function startTree(t: Test, folder: string, node = process.execPath) {
  const { url, pool } = await testDatabase(t, { empty: true });
  const port = await freePort();
  const child: ChildProcess = spawn(node, ['services/start.ts'], {
    cwd: folder,
    env: {
      ...INHERITED_ENV,
      DATABASE_URL: url,
      PORT: port,
      METRICS_PORT: '0',
      SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += String(chunk);
    });
  const exit = once(child, 'exit');
  for (const end = Date.now() + READY_MS; !output.includes('Ready: '); await sleep(50))
    if (Date.now() > end || child.exitCode !== null) throw new Error(`not ready:\n${output}`);
  return { child, exit, pool, base: `http://localhost:${port}`, output: () => output };
}
