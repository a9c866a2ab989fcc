import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Test } from 'tap';

const WORKER = join(import.meta.dirname, '..', '..', 'workers', 'worker.ts');

/** Starts the real worker process for a service; it stops before the service. */
export async function startWorker(t: Test, environment: Record<string, string>): Promise<void> {
  const worker: ChildProcess = spawn(process.execPath, [WORKER], {
    env: { ...process.env, LOG_LEVEL: 'error', ...environment },
    // The worker exits when the channel closes, in case the test died without stopping it.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.teardown(async () => {
    if (worker.exitCode !== null) return;
    const ended = once(worker, 'exit');
    worker.kill('SIGTERM');
    await ended;
  });
}
