import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { INHERITED_ENV } from '../harness/inherited-env.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import type { BenchEnvironment, LongBenchmark } from './environment.ts';
import { type MainRequests, openMainRequests } from './main-requests.ts';
import { type Contender, compare, median, type Pace, type Result } from './pair.ts';
import { readMemory, readProcessorMs } from './process-usage.ts';
import {
  moderatorTokens,
  ROOT,
  type Service,
  serviceOn,
  startWeb,
  startWorker,
} from './service.ts';
import { openStatementCounter, type StatementCosts } from './statements.ts';

const CONNECTIONS = 32;
const MODERATORS = 32;
/** Ratios of short turns vary by this much where the builds are equal. */
const AIM = 0.9;
const REST_MS = 3000;
const STARTS = 5;
const REBUILDS = 3;
/** About 50,000 events. */
const HISTORY = { members: 500, notes: 23 };

const REQUESTS: Readonly<Record<keyof MainRequests, string>> = {
  home: 'GET /',
  brotli: 'GET /, as brotli',
  note: 'GET /notes/{id}',
  case: 'GET /cases/{id}',
  feed: 'GET /guestbook/service.atom',
  guestbook: 'GET /api/guestbook',
  me: 'GET /api/v1/me',
  noUpdates: 'GET /api/v1/updates, an empty page',
  updates: 'GET /api/v1/updates, 100 events',
  submit: 'POST /api/guestbook',
  profile: 'POST /api/v1/me/profile',
  rotate: 'POST /api/v1/me/credentials/rotate',
  claimOrRelease: 'a claim or a release of a case',
  decide: 'a decision on a note',
  claimNext: 'claim-next',
};

/** A build with a web process and a database. */
interface Build {
  name: string;
  root: string;
  service: Service;
  pid: number;
  requests: MainRequests;
  costs(): Promise<StatementCosts>;
}

/** What the requests of all turns have cost. */
interface Total extends StatementCosts {
  requests: number;
  processorMs: number;
}

/**
 * Compares this build with another checkout's: each request, with what it costs the web process and the database; the
 * memory and the start of the processes; and a rebuild of the same log.
 */
export const builds: LongBenchmark = {
  name: 'builds',
  async measure(setting, { beside = '', only = '', pace }, tell) {
    const pair: [Build, Build] = [
      await openBuild(setting, 'this build', ROOT),
      await openBuild(setting, beside, resolve(beside)),
    ];
    for (const [key, name] of Object.entries(REQUESTS))
      if (name.includes(only)) tell(await compareRequests(key as keyof MainRequests, pair, pace));
    const [now, before] = pair.map(({ pid }) => memoryOf(pid).toFixed(0));
    process.stdout.write(`memory of web after these requests: ${before} → ${now} MiB\n`);
    if ('starts'.includes(only)) await compareStarts(setting, pair);
    if ('rebuild'.includes(only)) tell(await compareRebuilds(setting, pair));
  },
};

async function openBuild(setting: BenchEnvironment, name: string, root: string): Promise<Build> {
  const service = await serviceOn(setting, await setting.database('empty'));
  await run(root, 'services/release.ts', service);
  const pid = await startWeb(setting, service, root);
  const tokens = await moderatorTokens(service, MODERATORS, root);
  const requests = await openMainRequests(setting, service.base, tokens);
  const { DATABASE_URL = '' } = service.env;
  await withConnection(DATABASE_URL, (client) => client.query('VACUUM ANALYZE'));
  const counter = await openStatementCounter(setting.server, DATABASE_URL);
  setting.onEnd(counter.close);
  return { name, root, service, pid, requests, costs: counter.read };
}

async function run(root: string, script: string, { env }: Service): Promise<void> {
  const options = { cwd: root, env: { ...INHERITED_ENV, ...env } };
  await promisify(execFile)(process.execPath, [script], options);
}

async function compareRequests(
  key: keyof MainRequests,
  [ours, theirs]: [Build, Build],
  pace: Pace,
): Promise<Result> {
  const [mine, other] = [metered(ours, key), metered(theirs, key)];
  const floors = [{ name: theirs.name, aim: AIM, contender: other }];
  const [result] = await compare({ name: REQUESTS[key], ours: mine, floors }, pace);
  const each = (what: Exclude<keyof Total, 'requests'>, digits: number) =>
    [other, mine].map(({ total }) => (total[what] / total.requests).toFixed(digits)).join(' → ');
  return withLine(
    result as Result,
    `processor of web ${each('processorMs', 2)} ms, ${each('statements', 1)} statements, ${each('buffers', 0)} buffers, ${each('walBytes', 0)} bytes of WAL`,
  );
}

/** The load of a request, which adds up what its turns cost. */
function metered({ pid, costs, requests }: Build, key: keyof MainRequests) {
  const contender = requests[key](CONNECTIONS);
  const total: Total = { requests: 0, processorMs: 0, statements: 0, buffers: 0, walBytes: 0 };
  const meters = async () => ({ processorMs: readProcessorMs(pid), ...(await costs()) });
  return {
    ...contender,
    total,
    async run(seconds) {
      const before = await meters();
      const started = performance.now();
      const rate = await contender.run(seconds);
      total.requests += (rate * (performance.now() - started)) / 1000;
      const after = await meters();
      for (const what of Object.keys(after) as (keyof typeof after)[])
        total[what] += after[what] - before[what];
      return rate;
    },
  } satisfies Contender & { total: Total };
}

/** The processor until a process is ready, and its memory a moment later; the compile cache is warm. */
async function compareStarts(setting: BenchEnvironment, pair: readonly Build[]): Promise<void> {
  for (const start of [startWeb, startWorker]) {
    const seen = pair.map(() => ({ milliseconds: [] as number[], mebibytes: [] as number[] }));
    for (let round = 0; round < STARTS; round++)
      for (const [at, { root, service }] of pair.entries()) {
        const ends: (() => unknown)[] = [];
        const onEnd = (one: () => unknown) => {
          ends.push(one);
          setting.onEnd(one);
        };
        const another = await serviceOn(setting, service.env.DATABASE_URL ?? '');
        const pid = await start({ ...setting, onEnd }, another, root);
        seen[at]?.milliseconds.push(readProcessorMs(pid));
        await sleep(REST_MS);
        seen[at]?.mebibytes.push(memoryOf(pid));
        for (const end of ends) await end();
      }
    const oldAndNew = (what: 'milliseconds' | 'mebibytes') =>
      seen
        .map((each) => median(each[what]).toFixed(0))
        .reverse()
        .join(' → ');
    const name = start === startWeb ? 'web' : 'a worker';
    process.stdout.write(
      `start of ${name}: processor ${oldAndNew('milliseconds')} ms, memory at rest ${oldAndNew('mebibytes')} MiB\n`,
    );
  }
}

const memoryOf = (pid: number): number => readMemory(pid)?.now ?? Number.NaN;

/** Both rebuild one log: the other build writes it, and this one releases a copy of its database. */
async function compareRebuilds(
  setting: BenchEnvironment,
  [ours, theirs]: [Build, Build],
): Promise<Result> {
  const log = await setting.database('empty');
  const service = await serviceOn(setting, log);
  await run(theirs.root, 'services/release.ts', service);
  const { writeHistory } = (await import(
    join(theirs.root, 'harness/history.ts')
  )) as typeof import('../harness/history.ts');
  const events = await withConnection(log, async (client) => {
    await writeHistory(client, HISTORY);
    await client.query('VACUUM ANALYZE');
    return Number((await client.query('SELECT count(*) FROM events')).rows[0].count);
  });
  const copied = await serviceOn(setting, await copyDatabase(setting.server, log));
  await run(ours.root, 'services/release.ts', copied);
  const rebuild = (root: string, of: Service): Contender => ({
    async run() {
      const started = performance.now();
      await run(root, 'cli/rebuild.ts', of);
      return (events * 1000) / (performance.now() - started);
    },
  });
  const [result] = await compare(
    {
      name: `rebuild of ${events.toLocaleString('en')} events`,
      ours: rebuild(ours.root, copied),
      floors: [{ name: theirs.name, aim: AIM, contender: rebuild(theirs.root, service) }],
    },
    { rounds: REBUILDS, seconds: 0 },
  );
  return withLine(result as Result, 'events a second');
}

async function copyDatabase(server: string, url: string): Promise<string> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  const template = new URL(url).pathname.slice(1);
  await withConnection(server, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`),
  );
  return new URL(`/${name}`, url).href;
}

function withLine(result: Result, more: string): Result {
  const { name, floor, ours, theirs, ratio, range } = result;
  const [least, most] = range.map((value) => value.toFixed(2));
  return {
    ...result,
    line: `${name} / ${floor}: ${ratio.toFixed(2)} (${least}–${most}; ${ours.toFixed(0)}/s against ${theirs.toFixed(0)}/s); ${more}`,
  };
}
