import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openCore } from '../services/app.ts';
import { readConfig } from '../services/config.ts';
import { isRefusal } from '../services/eventstore/decider.ts';
import type { Role } from '../services/http/principal.ts';
import { addModerator } from '../services/moderation/moderators.ts';
import { freePort } from '../test/harness/free-port.ts';
import { atDesk } from '../test/harness/moderation.ts';
import { type Operation, openTraffic } from '../test/harness/traffic.ts';
import { wire } from './growth.ts';
import { startServer } from './processes.ts';
import { type Setting, withSetting } from './setting.ts';
import { judge, newSeries, sample } from './slopes.ts';

const CALLERS = 4;
const PAUSE_MS = 25;
const SAMPLES = 120;
const PLENTY = '1000000000';
const beside = (path: string) => join(import.meta.dirname, path);

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  process.stderr.write('Usage: npm run soak -- [--minutes N]\n');
  process.exit(1);
}

/** Steady mixed load on a web and a worker process for a while, and whether anything grew by it. */
async function soak(setting: Setting): Promise<void> {
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
      // What had to be there first was refused, as two callers at once may be.
      counts.refused++;
    }
    await sleep(PAUSE_MS);
  }
}

async function startBoth(setting: Setting) {
  const url = await setting.database('migrated');
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const metrics = { web: await freePort(), worker: await freePort() };
  const env = {
    DATABASE_URL: url,
    PORT: port,
    METRICS_PORT: metrics.web,
    WORKER_METRICS_PORT: metrics.worker,
    BASE_URL: base,
    SERVER_KEYS: setting.serverKeys,
    UNDO_WINDOW_SECONDS: '5',
    LIMIT_KEY_ATTEMPTS: PLENTY,
    LIMIT_BOOTSTRAP_ATTEMPTS: PLENTY,
    LIMIT_REGISTRATIONS_PER_DAY: PLENTY,
    LIMIT_MEMBERS: PLENTY,
    LIMIT_WRITES_PER_DAY: PLENTY,
    LIMIT_NOTES_PER_TEN_MINUTES: PLENTY,
    LIMIT_NOTES_PER_DAY: PLENTY,
    LOG_LEVEL: 'error',
  };
  const core = await openCore(readConfig(env), 'soak');
  const hire = async (name: string, role: Role) => {
    const added = await addModerator(core, name, role);
    if (isRefusal(added)) throw new Error(added.refused);
    return atDesk(wire(base), added);
  };
  const desk = { moderator: await hire('Ann', 'moderator'), lead: await hire('Lea', 'lead') };
  await core.close();
  await startServer(setting, [beside('../services/web.ts')], env, base, '/readyz');
  const worker = `http://127.0.0.1:${metrics.worker}`;
  await startServer(setting, [beside('../workers/worker.ts')], env, worker, '/metrics');
  const operations = await openTraffic(wire(base), desk);
  return { url, operations, metrics };
}

await withSetting(soak);
