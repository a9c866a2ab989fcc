import { type Api, createApi } from '../harness/api.ts';
import { writeHistory } from '../harness/history.ts';
import { fillPrimaryData, fillTables } from '../harness/history-tables.ts';
import { type NeighbourSizes, writeNeighbours } from '../harness/huge-neighbours.ts';
import { atDesk } from '../harness/moderation.ts';
import { patient } from '../harness/patient.ts';
import { createTraffic } from '../harness/traffic.ts';
import type { Operation } from '../harness/traffic-operation.ts';
import { readConfig } from '../platform/config.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { asJob } from '../platform/postgres/request-deadline.ts';
import { createCore } from '../services/compose.ts';
import type { BenchEnvironment, DatabaseKind, LongBenchmark } from './environment.ts';
import { median, type Result } from './pair.ts';
import { addModerators, serviceOn, startWeb } from './service.ts';
import { openStatementCounter } from './statements.ts';

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

const QUEUE = 'GET /api/moderation/queue, ';
const SEARCHES = 'looks at up to 2,000 notes and their authors until its page is full';

/** Measured and printed, but not judged, and why. */
const NOT_JUDGED: Readonly<Record<string, string>> = {
  [`${QUEUE}author_record=new`]: SEARCHES,
  [`${QUEUE}author_record=new, lead`]: SEARCHES,
  'GET /api/moderation/stats': 'costs what its period holds',
  'POST /api/moderation/moderators/:id/rewind': 'reads what the moderator did in the last minute',
  'GET /api/v1/agents/:id': 'counts each public record of the member',
  'GET /notes/:id': 'looks for the text of a note among its first 100 events',
  'POST /api/v1/cases/:case_id/notes, where all others took part':
    'tells 200 members, whose feeds it writes, and no more where more took part',
};

/** What a side is compared for; the sides between the shortest and the longest have no role. */
type Role = 'shortest' | 'longest' | 'neighbours' | 'plain';

/** A database of one size with its service, and the operations on it. */
interface Side {
  name: string;
  role: Role | undefined;
  operations: readonly Operation[];
  /** Buffers that statements on this database have touched so far. */
  buffers(): Promise<number>;
}

/** What one operation costs on one side: medians, and of the buffers the lower quartile. */
interface Cost {
  milliseconds: number;
  buffers: number;
  bytes: number;
}

/**
 * Compares each API operation on logs of several sizes, and on the longest with huge neighbours,
 * request by request, while a console has the moderators' stream open. Fails if an operation costs
 * more than 1.5 times as much as on the shortest log, or beside the neighbours than without, and its
 * answer is not larger. With `partitions`, these logs are on partitioned tables; an operation must then
 * also take at most 1.5 times as long as on plain tables of the longest length.
 */
export const growth: LongBenchmark = {
  name: 'growth',
  async measure(setting, { sizes, neighbours, only, partitions }, tell) {
    const kind = partitions ? 'partitioned' : 'migrated';
    const most = sizes.at(-1) as number;
    const sides: Side[] = [];
    for (const [at, events] of sizes.entries()) {
      const role = at === sizes.length - 1 ? 'longest' : at === 0 ? 'shortest' : undefined;
      sides.push(await openSide(setting, { kind, events, role }));
    }
    sides.push(await openSide(setting, { kind, events: most, role: 'neighbours', neighbours }));
    if (partitions)
      sides.push(await openSide(setting, { kind: 'migrated', events: most, role: 'plain' }));
    const failed: string[] = [];
    for (const { name } of sides.find(({ role }) => role === 'longest')?.operations ?? []) {
      if (only && !name.includes(only)) continue;
      let costs = await measure(sides, name, TURNS);
      if (findingsIn(costs).length > 0) costs = await measure(sides, name, AGAIN);
      tell(resultOf(name, costs));
      if (!(name in NOT_JUDGED))
        failed.push(...findingsIn(costs).map((found) => `${name}: ${found}`));
    }
    if (failed.length > 0) throw new Error(`these grew:\n${failed.join('\n')}`);
  },
};

function findingsIn(costs: Costs): string[] {
  return [
    grown(costs, 'shortest', 'longest'),
    grown(costs, 'longest', 'neighbours'),
    // A statement that names no owner reads an index of each partition, so buffers say nothing here.
    grown(costs, 'plain', 'longest', ['milliseconds']),
  ].flatMap((found) => found ?? []);
}

type Costs = ReadonlyMap<Side, Cost>;

/** How the operation grew from one side to the other, or null. */
function grown(
  costs: Costs,
  from: Role,
  to: Role,
  units: readonly ('milliseconds' | 'buffers')[] = ['milliseconds', 'buffers'],
): string | null {
  const [small, large] = [entryOf(costs, from), entryOf(costs, to)];
  if (!small || !large) return null;
  const [smallCost, largeCost] = [small[1], large[1]];
  if (largeCost.bytes > LIMIT * smallCost.bytes + SLACK.bytes) return null;
  const found = units.filter((unit) => largeCost[unit] > LIMIT * smallCost[unit] + SLACK[unit]);
  if (found.length === 0) return null;
  const figures = found.map(
    (unit) => `${smallCost[unit].toFixed(1)} to ${largeCost[unit].toFixed(1)} ${unit}`,
  );
  return `from ${small[0].name} to ${large[0].name}, ${figures.join(', ')}`;
}

/** The side with a role; a single length is its own shortest. */
const entryOf = (costs: Costs, role: Role) =>
  [...costs].find(([side]) => side.role === role) ??
  (role === 'shortest' ? [...costs][0] : undefined);

async function measure(sides: readonly Side[], name: string, turns: number): Promise<Costs> {
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
    // In some turns the open console reads as well, more often the longer they take.
    buffers: lowerQuartile(all.map(({ buffers }) => buffers)),
    bytes: median(all.map(({ bytes }) => bytes)),
  });
  return new Map([...seen].map(([side, all]) => [side, medians(all)]));
}

const lowerQuartile = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] as number;

/** A short list has no page far within it: its first page is compared instead. */
function operationOf({ name: side, operations }: Side, name: string): Operation {
  const found =
    operations.find((each) => each.name === name) ??
    operations.find((each) => each.name === name.replace(', far within', ''));
  if (!found) throw new Error(`${name} has no counterpart at ${side}`);
  return found;
}

/** Each unit on all sides, and in brackets the ratios of the sides that are compared. */
function lineOf(name: string, costs: Costs): string {
  const cost = (role: Role) => entryOf(costs, role)?.[1];
  const compared = [
    [cost('shortest'), cost('longest')],
    [cost('shortest'), cost('neighbours')],
    ...(cost('plain') ? [[cost('plain'), cost('longest')]] : []),
  ];
  const ratio = (unit: keyof Cost) =>
    compared
      .map(([from, to]) => ((to?.[unit] ?? 0) / Math.max(1, from?.[unit] ?? 0)).toFixed(2))
      .join(', ');
  const figures = (unit: keyof Cost, digits: number) =>
    [...costs.values()].map((cost) => cost[unit].toFixed(digits)).join(' · ');
  return [
    `${name}: ${figures('milliseconds', 1)} ms (${ratio('milliseconds')})`,
    `${figures('buffers', 0)} buffers (${ratio('buffers')})`,
    `${figures('bytes', 0)} bytes`,
  ].join(', ');
}

/** The longest log beside plain tables, where there are such, and beside the shortest one otherwise. */
function resultOf(name: string, costs: Costs): Result {
  const [small, large] = [
    entryOf(costs, 'plain') ?? entryOf(costs, 'shortest'),
    entryOf(costs, 'longest'),
  ] as [[Side, Cost], [Side, Cost]];
  const [ours, theirs] = [1000 / large[1].milliseconds, 1000 / small[1].milliseconds];
  const ratio = ours / theirs;
  return {
    name,
    floor: `the same at ${small[0].name}`,
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
  {
    kind,
    events,
    role,
    neighbours,
  }: { kind: DatabaseKind; events: number; role: Role | undefined; neighbours?: NeighbourSizes },
): Promise<Side> {
  const url = await setting.database(kind);
  const layout = role === 'plain' ? ' on plain tables' : '';
  const beside = neighbours ? ' with neighbours' : '';
  const name = `${events.toLocaleString('en')} events${layout}${beside}`;
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
  await keepSignedIn(url);
  setting.onEnd(await openStream(service.base, moderator.token));
  const counter = await openStatementCounter(setting.server, url);
  setting.onEnd(counter.close);
  return { name, role, operations, buffers: async () => (await counter.read()).buffers };
}

/** Lets the session and the credentials of the traffic live for a day: they would end within a long run. */
async function keepSignedIn(url: string): Promise<void> {
  const recent = `now() - interval '50 minutes'`;
  await withConnection(url, async (client) => {
    await client.query(`UPDATE sessions SET expires_at = expires_at + interval '1 day'
      WHERE ended_at IS NULL AND started_at > ${recent}`);
    await client.query(`UPDATE credentials SET expires_at = expires_at + interval '1 day'
      WHERE state = 'active' AND created_at > ${recent}`);
  });
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
