import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createApi } from '../harness/api.ts';
import { createTraffic } from '../harness/traffic.ts';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { day } from './day.ts';
import { type BenchEnvironment, withBenchEnvironment } from './environment.ts';
import { judge, newSeries, sample } from './slopes.ts';
import { startBoth } from './soak-service.ts';
import { type Counts, callSteadily } from './steady-caller.ts';

const CALLERS = 4;
const PAUSE_MS = 25;
const SAMPLES = 120;

const USAGE = `Usage:
  npm run soak [-- --minutes N]
  npm run soak -- day [--minutes N]

Puts steady mixed load on a web and a worker process for N minutes (60; 0.5 is half a minute) and
prints whether memory, connections, dead rows or jobs grew.

day: every kind of caller at once for N minutes (30, at most 55), a backup, and restarts. Ends with a
comparison of what was acknowledged with the database, of the read models and the backup with the log,
and with the slopes of memory.
`;

const { positionals, values } = processArguments(
  USAGE,
  { minutes: { type: 'string' } },
  [0, 1],
  ({ positionals: [name], values: { minutes = '1' } }) => {
    if (name !== undefined && name !== 'day') throw new ArgumentError(`Unknown soak '${name}'.`);
    if (!(Number(minutes) > 0))
      throw new ArgumentError('--minutes must be a number greater than 0.');
    // The credentials of its members last for an hour.
    if (name === 'day' && Number(minutes) > 55)
      throw new ArgumentError('--minutes of a day must be at most 55.');
  },
);
const isDay = positionals[0] === 'day';
const minutes = Number(values.minutes ?? (isDay ? 30 : 60));

/** Runs steady mixed load on a web and a worker process and reports whether anything grew. */
async function soak(setting: BenchEnvironment): Promise<void> {
  const { url, service, desk, metrics } = await startBoth(setting);
  const operations = await createTraffic(createApi(service.base), desk);
  const client = new pg.Client(url);
  await client.connect();
  setting.onEnd(() => client.end());

  const series = newSeries();
  const counts: Counts = { done: 0, refused: 0, failed: 0 };
  const failures = new Set<string>();
  const end = Date.now() + minutes * 60_000;
  const callers = Array.from({ length: CALLERS }, () =>
    callSteadily(operations, { until: end, pauseMs: PAUSE_MS }, counts, failures),
  );
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
  process.stdout.write(`${[...lines, ...failures].join('\n')}\n`);
  process.stdout.write(
    grown.length === 0 ? 'Nothing grew that should not.\n' : `GREW: ${grown.join('; ')}\n`,
  );
  if (grown.length > 0 || failed > 0) process.exitCode = 1;
}

async function mixedDay(setting: BenchEnvironment): Promise<void> {
  const wrong = await day(setting, minutes);
  const outcome =
    wrong.length === 0 ? ['Nothing is wrong.'] : wrong.map((each) => `WRONG: ${each}`);
  process.stdout.write(`${outcome.join('\n')}\n`);
  if (wrong.length > 0) process.exitCode = 1;
}

await withBenchEnvironment(isDay ? mixedDay : soak);
