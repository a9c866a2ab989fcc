import { type Api, createApi } from '../harness/api.ts';
import { writeHistory } from '../harness/history.ts';
import { fillPrimaryData, fillTables } from '../harness/history-tables.ts';
import { type NeighbourSizes, writeNeighbours } from '../harness/huge-neighbours.ts';
import { atDesk } from '../harness/moderation.ts';
import { createTraffic } from '../harness/traffic.ts';
import type { Operation } from '../harness/traffic-operation.ts';
import { readConfig } from '../platform/config.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { asJob } from '../platform/postgres/request-deadline.ts';
import { createCore } from '../services/compose.ts';
import type { BenchEnvironment, LongBenchmark } from './environment.ts';
import { median, type Result } from './pair.ts';
import { patient } from './patient.ts';
import { addModerators, serviceOn, startWeb } from './service.ts';
import { openBufferCounter } from './statements.ts';

const EACH = 100;
const NOTES = 23;
const TURNS = 9;
const WARM = 2;
/** Turns of an operation that seemed to grow: one slow moment of the machine is no finding. */
const AGAIN = 31;
/** Rows per page; small enough that a short log fills a page as well. */
const PAGE = 10;
const LIMIT = 1.5;
/** What the machine and one more level of each index may add. */
const SLACK = { milliseconds: 4, buffers: 60, bytes: 100 };

/** Measured and printed, but not judged, and why. */
const NOT_JUDGED: Readonly<Record<string, string>> = {
  'GET /api/moderation/stats': 'costs what its period holds',
  'GET /api/v1/agents/:id': 'counts each public record of the member',
  'POST /api/v1/cases/:case_id/notes, where all others took part':
    'tells 200 members, whose feeds it writes, and no more where more took part',
};

/** A database of one size with its service, and the operations on it. */
interface Side {
  name: string;
  operations: readonly Operation[];
  /** Buffers that statements on this database have touched so far. */
  buffers(): Promise<number>;
}

/** Medians of one operation on one side. */
interface Cost {
  milliseconds: number;
  buffers: number;
  bytes: number;
}

/**
 * Compares each API operation on logs of several sizes, and on the longest with huge neighbours,
 * request by request, while a console has the moderators' stream open. Fails if an operation costs
 * more than 1.5 times as much as on the shortest log, or beside the neighbours than without, and its
 * answer is not larger.
 */
export const growth: LongBenchmark = {
  name: 'growth',
  async measure(setting, { sizes, neighbours, only }, tell) {
    const sides: Side[] = [];
    for (const events of sizes) sides.push(await openSide(setting, events));
    sides.push(await openSide(setting, sizes.at(-1) as number, neighbours));
    const [shortest, longest, beside] = [sides[0], sides.at(-2), sides.at(-1)] as Side[];
    const failed: string[] = [];
    for (const { name } of longest?.operations ?? []) {
      if (only && !name.includes(only)) continue;
      let costs = await measure(sides, name, TURNS);
      const findings = () =>
        shortest && longest && beside
          ? [grown(costs, shortest, longest), grown(costs, longest, beside)].flatMap(
              (found) => found ?? [],
            )
          : [];
      if (findings().length > 0) costs = await measure(sides, name, AGAIN);
      tell(resultOf(name, costs));
      if (!(name in NOT_JUDGED)) failed.push(...findings().map((found) => `${name}: ${found}`));
    }
    if (failed.length > 0) throw new Error(`these grew:\n${failed.join('\n')}`);
  },
};

/** How the operation grew from one side to the other, or null. */
function grown(costs: ReadonlyMap<Side, Cost>, from: Side, to: Side): string | null {
  const [small, large] = [costs.get(from), costs.get(to)];
  if (!small || !large) return null;
  if (large.bytes > LIMIT * small.bytes + SLACK.bytes) return null;
  const found = (['milliseconds', 'buffers'] as const).filter(
    (unit) => large[unit] > LIMIT * small[unit] + SLACK[unit],
  );
  if (found.length === 0) return null;
  const figures = found.map(
    (unit) => `${small[unit].toFixed(1)} to ${large[unit].toFixed(1)} ${unit}`,
  );
  return `from ${from.name} to ${to.name}, ${figures.join(', ')}`;
}

async function measure(
  sides: readonly Side[],
  name: string,
  turns: number,
): Promise<Map<Side, Cost>> {
  const seen = new Map(sides.map((side) => [side, [] as Cost[]]));
  for (let turn = -WARM; turn < turns; turn++)
    for (const [at] of sides.entries()) {
      const side = sides[(at + turn + WARM) % sides.length] as Side;
      const send = await operationOf(side, name).prepare();
      const before = await side.buffers();
      const started = performance.now();
      const { status, text } = await send();
      const milliseconds = performance.now() - started;
      if (status >= 300) throw new Error(`${name} at ${side.name}: ${status} ${text}`);
      const buffers = (await side.buffers()) - before;
      if (turn >= 0) seen.get(side)?.push({ milliseconds, buffers, bytes: text.length });
    }
  const medians = (all: readonly Cost[]): Cost => ({
    milliseconds: median(all.map(({ milliseconds }) => milliseconds)),
    buffers: median(all.map(({ buffers }) => buffers)),
    bytes: median(all.map(({ bytes }) => bytes)),
  });
  return new Map([...seen].map(([side, all]) => [side, medians(all)]));
}

/** A short list has no page far within it: its first page is compared instead. */
function operationOf({ name: side, operations }: Side, name: string): Operation {
  const found =
    operations.find((each) => each.name === name) ??
    operations.find((each) => each.name === name.replace(', far within', ''));
  if (!found) throw new Error(`${name} has no counterpart at ${side}`);
  return found;
}

function lineOf(name: string, costs: ReadonlyMap<Side, Cost>): string {
  const all = [...costs.values()];
  const [first, last, beside] = [all[0], all.at(-2), all.at(-1)] as Cost[];
  const ratio = (unit: keyof Cost) =>
    [last, beside]
      .map((cost) => ((cost?.[unit] ?? 0) / Math.max(1, first?.[unit] ?? 0)).toFixed(2))
      .join(', ');
  const figures = (unit: keyof Cost, digits: number) =>
    all.map((cost) => cost[unit].toFixed(digits)).join(' · ');
  return [
    `${name}: ${figures('milliseconds', 1)} ms (${ratio('milliseconds')})`,
    `${figures('buffers', 0)} buffers (${ratio('buffers')})`,
    `${figures('bytes', 0)} bytes`,
  ].join(', ');
}

function resultOf(name: string, costs: ReadonlyMap<Side, Cost>): Result {
  const [[from, small], [, large]] = [[...costs][0], [...costs].at(-2)] as [
    [Side, Cost],
    [Side, Cost],
  ];
  const [ours, theirs] = [1000 / large.milliseconds, 1000 / small.milliseconds];
  const ratio = ours / theirs;
  return {
    name,
    floor: `the same at ${from.name}`,
    ours,
    theirs,
    ratio,
    range: [ratio, ratio],
    aim: 1 / LIMIT,
    met: ratio >= 1 / LIMIT,
    line: lineOf(name, costs),
  };
}

async function openSide(
  setting: BenchEnvironment,
  events: number,
  neighbours?: NeighbourSizes,
): Promise<Side> {
  const url = await setting.database('migrated');
  const name = `${events.toLocaleString('en')} events${neighbours ? ' with neighbours' : ''}`;
  await fill(url, events, name);
  const service = await serviceOn(setting, url);
  const api = followRedirects(patient(createApi(service.base)));
  const moderator = await addModerators(service, 'Ann', 'moderator');
  const desk = {
    moderator: atDesk(api, moderator),
    lead: atDesk(api, await addModerators(service, 'Lea', 'lead')),
  };
  await startWeb(setting, service);
  const prepareSubjects: Parameters<typeof createTraffic>[3] =
    neighbours &&
    (async (subjects) => {
      const core = await createCore(readConfig(service.env), 'bench');
      try {
        await asJob(() => writeNeighbours(core.store, subjects, neighbours));
      } finally {
        await core.close();
      }
      await withConnection(url, (client) => client.query('VACUUM ANALYZE'));
    });
  const operations = await createTraffic(api, desk, PAGE, prepareSubjects);
  setting.onEnd(await openStream(service.base, moderator.token));
  const counter = await openBufferCounter(setting.server, url);
  setting.onEnd(counter.close);
  return { name, operations, buffers: counter.read };
}

/** Opens the moderators' stream and reads it until the returned function is called. */
async function openStream(base: string, token: string): Promise<() => void> {
  const controller = new AbortController();
  const { body } = await fetch(`${base}/api/moderation/stream`, {
    headers: { authorization: `Bearer ${token}` },
    signal: controller.signal,
  });
  const read = async () => {
    for await (const _ of body ?? []);
  };
  read().catch(() => undefined);
  return () => controller.abort();
}

/** Calls the address to which an answer redirects as well: the page there is a part of what is measured. */
function followRedirects(api: Api): Api {
  return {
    async call(method, path, options) {
      const answer = await api.call(method, path, options);
      const location = answer.headers.get('location');
      if (answer.status < 300 || answer.status >= 400 || location === null) return answer;
      const { pathname, search } = new URL(location, 'http://service');
      return api.call('GET', `${pathname}${search}`, { cookie: options?.cookie });
    },
  };
}

async function fill(url: string, events: number, name: string): Promise<void> {
  const started = performance.now();
  await withConnection(url, async (client) => {
    await writeHistory(client, { members: events / EACH, notes: NOTES });
    await fillTables(client);
    await fillPrimaryData(client);
    await client.query('VACUUM ANALYZE');
    const { rows } = await client.query(`SELECT (SELECT count(*) FROM events) AS events,
      pg_size_pretty(pg_database_size(current_database())) AS size`);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stdout.write(`${name}: ${rows[0].events} events, ${rows[0].size}, in ${seconds} s\n`);
  });
}
