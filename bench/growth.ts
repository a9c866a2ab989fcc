import { type Api, createApi } from '../harness/api.ts';
import { writeHistory } from '../harness/history.ts';
import { fillPrimaryData, fillTables } from '../harness/history-tables.ts';
import { atDesk } from '../harness/moderation.ts';
import { createTraffic } from '../harness/traffic.ts';
import type { Operation } from '../harness/traffic-operation.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import type { BenchEnvironment, LongBenchmark } from './environment.ts';
import { median, type Result } from './pair.ts';
import { addModerators, serviceOn, startWeb } from './service.ts';

const SMALL = 10_000;
const EACH = 100;
const NOTES = 23;
const TIMES = { GET: 61, others: 31 };
const WARM = 6;
/** Rows per page; small enough that the short log fills a page as well. */
const PAGE = 10;
const AIM = 1 / 1.25;

/** Its cost depends on the decisions in the requested period, not on the length of the log. */
const PERIOD = 'GET /api/moderation/stats';

/** Compares each API operation on a long log with the same on a short log, request by request. */
export const growth: LongBenchmark = {
  name: 'growth',
  async measure(setting, { events, only }, tell) {
    const small = await side(setting, SMALL);
    const large = await side(setting, events);
    const failed: unknown[] = [];
    for (const other of large) {
      const { name } = other;
      // A short list has no page far within it; compare with its first page.
      const operation =
        small.find((each) => each.name === name) ??
        small.find((each) => each.name === name.replace(', far within', ''));
      if (only && !name.includes(only)) continue;
      if (!operation) throw new Error(`${name} has no counterpart`);
      if (name === PERIOD) {
        process.stdout.write(`${name}: left out, it costs what its period holds\n`);
        continue;
      }
      // Measure the other operations before failing: writing the long log takes long.
      await compare(other, operation).then(tell, (error: Error) => {
        process.stdout.write(`${error.message}\n`);
        failed.push(error);
      });
    }
    if (failed.length > 0) throw new AggregateError(failed, 'some operations failed');
  },
};

async function compare(large: Operation, small: Operation): Promise<Result> {
  const milliseconds: [number[], number[]] = [[], []];
  const times = large.name.startsWith('GET') ? TIMES.GET : TIMES.others;
  for (let turn = -WARM; turn < times; turn++)
    for (const side of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const send = await (side === 0 ? large : small).prepare();
      const started = performance.now();
      const { status, text } = await send();
      const took = performance.now() - started;
      if (status >= 300) throw new Error(`${large.name}: ${status} ${text}`);
      if (turn >= 0) milliseconds[side].push(took);
    }
  const [theirs, ours] = milliseconds.map((times) => 1000 / median(times)) as [number, number];
  const ratio = theirs / ours;
  const ratios = milliseconds[0].map((took, turn) => (milliseconds[1][turn] ?? took) / took);
  return {
    name: large.name,
    floor: `the same at ${SMALL.toLocaleString('en')} events`,
    ours: theirs,
    theirs: ours,
    ratio,
    range: [Math.min(...ratios), Math.max(...ratios)],
    aim: AIM,
    met: ratio >= AIM,
  };
}

async function side(setting: BenchEnvironment, events: number): Promise<Operation[]> {
  const url = await setting.database('migrated');
  await fill(url, events);
  const service = await serviceOn(setting, url);
  const { base } = service;
  const desk = {
    moderator: atDesk(createApi(base), await addModerators(service, 'Ann', 'moderator')),
    lead: atDesk(createApi(base), await addModerators(service, 'Lea', 'lead')),
  };
  await startWeb(setting, service);
  return createTraffic(followRedirects(createApi(base)), desk, PAGE);
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

async function fill(url: string, events: number): Promise<void> {
  const started = performance.now();
  await withConnection(url, async (client) => {
    await writeHistory(client, { members: events / EACH, notes: NOTES });
    await fillTables(client);
    await fillPrimaryData(client);
    await client.query('VACUUM ANALYZE');
    const { rows } = await client.query(`SELECT (SELECT count(*) FROM events) AS events,
      pg_size_pretty(pg_database_size(current_database())) AS size`);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stdout.write(`growth / ${rows[0].events} events, ${rows[0].size}, in ${seconds} s\n`);
  });
}
