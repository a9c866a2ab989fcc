import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { type Agent, newAgent } from '../harness/agent.ts';
import { type Api, createApi } from '../harness/api.ts';
import { atDesk } from '../harness/moderation.ts';
import { patient } from '../harness/patient.ts';
import { assertRebuilt } from '../harness/rebuilt.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { createTraffic } from '../harness/traffic.ts';
import type { BenchEnvironment } from './environment.ts';
import { judge, newSeries, type Series, sample } from './slopes.ts';
import { type Soaked, startBoth } from './soak-service.ts';
import { type Counts, callSteadily } from './steady-caller.ts';

const CALLERS = 6;
const POLLERS = 4;
const PAUSE_MS = 50;
const PUBLISH_MS = 500;
const SAMPLES = 200;
/** In a shorter day, memory is still warming up: its slopes are printed, but prove nothing. */
const MINUTES_OF_SLOPES = 10;
const ROOT = join(import.meta.dirname, '..');

/** When what happens, as a share of the day. */
const BACKUP_AT = 0.25;
const RESTARTS_AT = 0.5;

/** What was acknowledged, and has to be in the database at the end. */
interface Acknowledged {
  events: Set<string>;
  notes: Set<string>;
}

/**
 * A day in `minutes`: members, guests, agents of A2A and MCP, moderators with an open console and
 * long polls use the service at once; a backup is made, then both processes restart. Ends with a
 * comparison of everything acknowledged with the database, of the read models with the log, and of
 * the backup with its rebuild, and with the slopes of memory before and after the restart. Returns
 * what is wrong.
 */
export async function day(setting: BenchEnvironment, minutes: number): Promise<string[]> {
  const soaked = await startBoth(setting);
  const pool = new pg.Pool({ connectionString: soaked.url, max: 2 });
  setting.onEnd(() => pool.end());
  const client = new pg.Client(soaked.url);
  await client.connect();
  setting.onEnd(() => client.end());
  const { path: folder, remove } = temporaryFolder('day');
  setting.onEnd(remove);

  const acknowledged: Acknowledged = { events: new Set(), notes: new Set() };
  const api = recording(patient(createApi(soaked.service.base)), acknowledged);
  const desk = {
    moderator: atDesk(api, soaked.desk.moderator),
    lead: atDesk(api, soaked.desk.lead),
  };
  const operations = await createTraffic(api, desk);
  const began = Date.now();
  const length = minutes * 60_000;
  const running = { until: began + length, pauseMs: PAUSE_MS };
  const counts: Counts = { done: 0, refused: 0, failed: 0 };
  const failures = new Set<string>();
  const polled = await Promise.all(Array.from({ length: POLLERS }, () => poller(api)));
  const consoles = [watch(soaked, running), watch(soaked, running)];
  const callers = [
    ...Array.from({ length: CALLERS }, () => callSteadily(operations, running, counts, failures)),
    ...polled.map((one) => poll(one, running)),
  ];

  const lives: Series[] = [newSeries()];
  const backup = join(folder, 'backup');
  const pending = [
    { at: BACKUP_AT, run: () => command('backup', [backup], soaked) },
    {
      at: RESTARTS_AT,
      async run() {
        for (const name of ['worker', 'web'] as const) {
          await soaked.stop(name);
          await soaked.start(name);
        }
        lives.push(newSeries());
      },
    },
  ];
  const every = Math.max(200, length / SAMPLES);
  for (let next = began + every; next < running.until; next += every) {
    await sleep(Math.max(0, next - Date.now()));
    while (pending[0] && Date.now() - began >= pending[0].at * length) await pending.shift()?.run();
    await sample(lives.at(-1) as Series, client, soaked.metrics);
  }
  await Promise.all(callers);
  const looks = await Promise.all(consoles);
  await soaked.stop('web');
  await soaked.stop('worker');

  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const { done, refused, failed } = counts;
  print(`${done} operations in ${minutes} minutes, ${refused} refused, ${failed} failed`);
  print(`the consoles heard of ${looks.reduce((sum, heard) => sum + heard, 0)} changes`);
  const wrong = [...failures];
  wrong.push(...(await missing(pool, acknowledged)));
  print(`${acknowledged.events.size} acknowledged events and ${acknowledged.notes.size} notes`);
  for (const { agent, sequences } of polled) wrong.push(...(await gaps(pool, agent, sequences)));
  await assertRebuilt(pool).then(
    () => print('every read model equals the log'),
    (error: Error) => wrong.push(`a read model differs from the log: ${error.message}`),
  );
  print(await command('verify', [backup], soaked));
  for (const [at, series] of lives.entries()) {
    print(at === 0 ? 'Before the restart:' : 'After it:');
    const { lines, grown } = judge(series);
    print(lines.join('\n'));
    if (at > 0 && minutes >= MINUTES_OF_SLOPES)
      wrong.push(...grown.map((measure) => `${measure} grew`));
  }
  return wrong;
}

function recording(api: Api, { events, notes }: Acknowledged): Api {
  return {
    async call(method, path, options) {
      const answer = await api.call(method, path, options);
      if (method === 'GET' || answer.status >= 300) return answer;
      const ids: unknown = answer.body?.receipt?.event_ids ?? [answer.body?.event_id];
      for (const id of Array.isArray(ids) ? ids : []) if (typeof id === 'string') events.add(id);
      const given = options?.body as { id: string } | undefined;
      if (path === '/api/guestbook' && given) notes.add(given.id);
      return answer;
    },
  };
}

interface Poller {
  agent: Agent;
  sequences: number[];
}

const poller = async (api: Api): Promise<Poller> => ({
  agent: await newAgent(api),
  sequences: [],
});

/** Publishes a profile again and again, and hears of that by long polls until the last one. */
async function poll({ agent, sequences }: Poller, running: { until: number }): Promise<void> {
  const publishing = publish(agent, running);
  let cursor = '';
  for (let more = true; more; ) {
    const last = Date.now() >= running.until;
    if (last) await publishing;
    const { status, body } = await agent.call(
      'GET',
      `/api/v1/updates?wait=${last ? 0 : 1}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    if (status !== 200) throw new Error(`long poll: ${status}`);
    sequences.push(...body.events.map(({ sequence }: { sequence: number }) => sequence));
    cursor = body.next_cursor;
    more = !last || body.has_more;
  }
}

async function publish(agent: Agent, running: { until: number }): Promise<void> {
  while (Date.now() < running.until) {
    await agent.call('POST', '/api/v1/me/profile', {
      display_name: `Poller ${randomUUID()}`,
      summary: 'Waits',
      links: [],
      capabilities: [],
      visibility: 'public',
      publish_consent: true,
      policy_version: 'service-public-v1',
    });
    await sleep(PUBLISH_MS);
  }
}

/** Keeps a console's stream open, again after each end, and counts what it heard. */
async function watch({ service, desk }: Soaked, running: { until: number }): Promise<number> {
  let heard = 0;
  while (Date.now() < running.until) {
    const controller = new AbortController();
    const end = setTimeout(() => controller.abort(), Math.max(0, running.until - Date.now()));
    try {
      const { body } = await fetch(`${service.base}/api/moderation/stream`, {
        headers: { authorization: `Bearer ${desk.moderator.token}` },
        signal: controller.signal,
      });
      for await (const chunk of body ?? [])
        heard += Buffer.from(chunk).toString().split('event:').length - 1;
    } catch {
      // The process restarts.
    }
    clearTimeout(end);
    await sleep(100);
  }
  return heard;
}

async function missing(pool: pg.Pool, { events, notes }: Acknowledged): Promise<string[]> {
  const { rows } = await pool.query<{ lost: string }>(
    `SELECT 'event ' || id AS lost FROM unnest($1::uuid[]) id
      WHERE NOT EXISTS (SELECT FROM events WHERE event_id = id)
    UNION ALL SELECT 'note ' || id FROM unnest($2::uuid[]) id
      WHERE NOT EXISTS (SELECT FROM notes WHERE note_id = id)`,
    [[...events], [...notes]],
  );
  return rows.map(({ lost }) => `acknowledged, but missing: ${lost}`);
}

/** Compares what a long poll delivered with the member's feed. */
async function gaps(pool: pg.Pool, agent: Agent, delivered: readonly number[]): Promise<string[]> {
  const { rows } = await pool.query<{ sequence: string }>(
    'SELECT sequence FROM feed WHERE member_id = $1 ORDER BY sequence',
    [agent.id],
  );
  const seen = new Set(delivered);
  const lost = rows.filter(({ sequence }) => !seen.has(Number(sequence)));
  return lost.map(({ sequence }) => `member ${agent.id} never heard of entry ${sequence}`);
}

/** Runs a command of the service on its database, and returns the last line that it prints. */
async function command(name: string, args: string[], { service }: Soaked): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(ROOT, 'cli', `${name}.ts`), ...args],
    {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...service.env, BACKUP_PASSPHRASE: 'a phrase of the day' },
    },
  );
  return stdout.trim().split('\n').at(-1) ?? '';
}
