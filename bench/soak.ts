import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createApi } from '../harness/api.ts';
import { freePort } from '../harness/free-port.ts';
import { atDesk } from '../harness/moderation.ts';
import { createTraffic } from '../harness/traffic.ts';
import type { Operation } from '../harness/traffic-operation.ts';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { type BenchEnvironment, withBenchEnvironment } from './environment.ts';
import { startServer } from './processes.ts';
import { addModerators, serviceOn, startWeb } from './service.ts';
import { judge, newSeries, sample } from './slopes.ts';

const CALLERS = 4;
const PAUSE_MS = 25;
const SAMPLES = 120;
const WORKER = join(import.meta.dirname, '../workers/worker.ts');

const USAGE = `Usage:
  npm run soak [-- --minutes N]

Puts steady mixed load on a web and a worker process for N minutes (60; 0.5 is half a minute) and
prints whether memory, connections, dead rows or jobs grew.
`;

const { values } = processArguments(
  USAGE,
  { minutes: { type: 'string', default: '60' } },
  [0, 0],
  ({ values }) => {
    if (!(Number(values.minutes) > 0))
      throw new ArgumentError('--minutes must be a number greater than 0.');
  },
);
const minutes = Number(values.minutes);

/** Runs steady mixed load on a web and a worker process and reports whether anything grew. */
async function soak(setting: BenchEnvironment): Promise<void> {
  const { url, operations, metrics } = await startBoth(setting);
  const client = new pg.Client(url);
  await client.connect();
  setting.onEnd(() => client.end());

  const series = newSeries();
  const counts = { done: 0, refused: 0, failed: 0 };
  const end = Date.now() + minutes * 60_000;
  const callers = Array.from({ length: CALLERS }, () => call(operations, end, counts));
  const every = Math.max(2000, (minutes * 60_000) / SAMPLES);
  for (let next = Date.now() + every; next < end; next += every) {
    await sleep(Math.max(0, next - Date.now()));
    await sample(series, client, metrics);
  }
  await Promise.all(callers);
  const { lines, grown } = judge(series);
  const { done, refused, failed } = counts;
  process.stdout.write(
    `${done} operations in ${minutes} minutes, ${refused} refused, ${failed} failed\n`,
  );
  process.stdout.write(`${lines.join('\n')}\n`);
  process.stdout.write(
    grown.length === 0 ? 'Nothing grew that should not.\n' : `GREW: ${grown.join('; ')}\n`,
  );
  if (grown.length > 0 || failed > 0) process.exitCode = 1;
}

async function call(
  operations: readonly Operation[],
  end: number,
  counts: Record<'done' | 'refused' | 'failed', number>,
) {
  while (Date.now() < end) {
    const { prepare } = operations[Math.floor(Math.random() * operations.length)] as Operation;
    try {
      const { status } = await (await prepare())();
      counts[status < 300 ? 'done' : status < 500 ? 'refused' : 'failed']++;
    } catch {
      // A prerequisite was refused, as may happen with concurrent callers.
      counts.refused++;
    }
    await sleep(PAUSE_MS);
  }
}

async function startBoth(setting: BenchEnvironment) {
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
  await startWeb(setting, service);
  const worker = `http://127.0.0.1:${metrics.worker}`;
  await startServer(setting, [WORKER], service.env, worker, '/metrics');
  const operations = await createTraffic(createApi(base), desk);
  return { url, operations, metrics };
}

await withBenchEnvironment(soak);
