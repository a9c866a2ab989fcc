import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '../harness/api.ts';
import { freePort } from '../harness/free-port.ts';
import { atDesk, type Moderator } from '../harness/moderation.ts';
import type { BenchEnvironment } from './environment.ts';
import { startServer } from './processes.ts';
import { addModerators, type Service, serviceOn, startWeb } from './service.ts';

const WORKER = join(import.meta.dirname, '../workers/worker.ts');

/** A web and a worker process that serve a database together. */
export interface Soaked {
  url: string;
  service: Service;
  desk: { moderator: Moderator; lead: Moderator };
  /** The ports of the processes' metrics. */
  metrics: { web: string; worker: string };
  /** Ends a process as a release does, and waits until it is gone. */
  stop(name: 'web' | 'worker'): Promise<void>;
  start(name: 'web' | 'worker'): Promise<void>;
}

export async function startBoth(setting: BenchEnvironment): Promise<Soaked> {
  const url = await setting.database('migrated');
  const { base, env } = await serviceOn(setting, url);
  const metrics = { web: env.METRICS_PORT, worker: await freePort() };
  const service = {
    base,
    env: {
      ...env,
      WORKER_METRICS_PORT: metrics.worker,
      UNDO_WINDOW_SECONDS: '5',
      LOG_LEVEL: 'error',
    },
  };
  const desk = {
    moderator: atDesk(createApi(base), await addModerators(service, 'Ann', 'moderator')),
    lead: atDesk(createApi(base), await addModerators(service, 'Lea', 'lead')),
  };
  const starts = {
    web: () => startWeb(setting, service),
    worker: () =>
      startServer(setting, [WORKER], service.env, `http://127.0.0.1:${metrics.worker}`, '/metrics'),
  };
  const pids = { web: await starts.web(), worker: await starts.worker() };
  return {
    url,
    service,
    desk,
    metrics,
    async stop(name) {
      process.kill(pids[name], 'SIGTERM');
      while (isAlive(pids[name])) await sleep(20);
    },
    async start(name) {
      pids[name] = await starts[name]();
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
