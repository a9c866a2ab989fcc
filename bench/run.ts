import { writeFileSync } from 'node:fs';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { append } from './append.ts';
import { builds } from './builds.ts';
import { commands } from './commands.ts';
import { moderation } from './console.ts';
import { crowd } from './crowd.ts';
import { type BenchEnvironment, withBenchEnvironment } from './environment.ts';
import { growth } from './growth.ts';
import { guestbook } from './guestbook.ts';
import { lists } from './lists.ts';
import { memoryUnderLoad } from './memory-under-load.ts';
import { pages } from './pages.ts';
import { compare, type Result } from './pair.ts';
import { partitions } from './partitions.ts';
import { peers } from './peers.ts';
import { queue } from './queue.ts';
import { rebuilding } from './rebuild.ts';
import { seal } from './seal.ts';
import { site } from './site.ts';
import { startup } from './startup.ts';
import { topStatements } from './statements.ts';
import { updates } from './updates.ts';

const BENCHES = [
  append,
  guestbook,
  site,
  updates,
  commands,
  queue,
  lists,
  pages,
  moderation,
  seal,
  partitions,
];
const LONG = [growth, rebuilding, startup, memoryUnderLoad, crowd, builds, peers];
const NAMES = [...BENCHES, ...LONG].map(({ name }) => name);

const USAGE = `Usage:
  npm run bench [-- NAME …] [OPTION …]

Measures the service beside floors, on a PostgreSQL of its own. Without names it runs
${BENCHES.map(({ name }) => name).join(', ')}.
Only where named: ${LONG.map(({ name }) => name).join(', ')}.

--rounds N    rounds of each comparison (21)
--seconds S   seconds of each side in each round (0.4)
--events N    length of the log for rebuild (1000000, at least 10000)
--sizes A,B,C lengths of the logs for growth, ascending (10000,40000,160000)
--neighbours R,P,N  of growth: records of a member, participants of a case, reports of a note
              (5000,1000,5000)
--without MECHANISM  runs append without it (group-commit), to see what it pays
--beside FOLDER  of crowd and builds, another checkout whose build alternates with this one
--partitions  growth and rebuild on partitioned tables, beside plain ones of the same length
--only PART   of growth and builds, only the operations with PART in their names
--json FILE   writes the results to FILE as JSON
--statements  after each comparison, prints on which statements PostgreSQL spent its time
`;

const { positionals, values } = processArguments(
  USAGE,
  {
    // Many short rounds, since the speed of a shared machine changes from second to second.
    rounds: { type: 'string', default: '21' },
    seconds: { type: 'string', default: '0.4' },
    events: { type: 'string', default: '1000000' },
    sizes: { type: 'string', default: '10000,40000,160000' },
    neighbours: { type: 'string', default: '5000,1000,5000' },
    only: { type: 'string' },
    beside: { type: 'string' },
    partitions: { type: 'boolean', default: false },
    without: { type: 'string' },
    json: { type: 'string' },
    statements: { type: 'boolean', default: false },
  },
  [0, Infinity],
  ({ positionals, values: { rounds, seconds, events, sizes, neighbours, without, beside } }) => {
    const unknown = positionals.find((name) => !NAMES.includes(name));
    if (unknown !== undefined) throw new ArgumentError(`Unknown benchmark '${unknown}'.`);
    if (positionals.includes('builds') && beside === undefined)
      throw new ArgumentError('builds needs --beside FOLDER.');
    if (!/^[1-9]\d*$/.test(rounds))
      throw new ArgumentError('--rounds must be a whole number of at least 1.');
    if (!(Number(seconds) > 0))
      throw new ArgumentError('--seconds must be a number greater than 0.');
    if (without !== undefined && without !== 'group-commit')
      throw new ArgumentError('--without must be group-commit.');
    if (!/^\d+$/.test(events) || Number(events) < 10_000)
      throw new ArgumentError('--events must be a whole number of at least 10000.');
    const lengths = numbers(sizes);
    if (lengths.some((size, at) => !(size >= 2000 && size > (lengths[at - 1] ?? 0))))
      throw new ArgumentError('--sizes must be ascending whole numbers of at least 2000.');
    if (numbers(neighbours).length !== 3 || numbers(neighbours).some((size) => !(size > 0)))
      throw new ArgumentError('--neighbours must be three whole numbers of at least 1.');
  },
);
const [records = 0, participants = 0, reports = 0] = numbers(values.neighbours);
const pace = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
const options = {
  pace,
  events: Number(values.events),
  sizes: numbers(values.sizes),
  neighbours: { records, participants, reports },
  only: values.only,
  beside: values.beside,
  partitions: values.partitions,
};

/** The numbers of a list; NaN for what is no whole number. */
function numbers(list: string): number[] {
  return list.split(',').map((text) => (/^\d+$/.test(text) ? Number(text) : Number.NaN));
}

const results: Result[] = [];

async function run(setting: BenchEnvironment): Promise<void> {
  for (const { name, prepare } of BENCHES) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    for (const comparison of await prepare(setting, values.without)) {
      // Reset the statistics, so that the benchmark's preparation does not count.
      if (values.statements) await topStatements(setting.server);
      for (const result of await compare(comparison, pace)) tell(result);
      if (comparison.seen) process.stdout.write(`${comparison.seen()}\n`);
      if (values.statements) process.stdout.write(`${await topStatements(setting.server)}\n`);
    }
  }
  for (const { name, measure } of LONG)
    if (positionals.includes(name)) await measure(setting, options, tell);
}

function tell(result: Result): void {
  results.push(result);
  process.stdout.write(`${result.line ?? line(result)}\n`);
}

function line({ name, floor, ours, theirs, ratio, range, aim, met }: Result): string {
  const [least, most] = range.map((value) => value.toFixed(2));
  return [
    `${name} / ${floor}:`,
    `${ratio.toFixed(2)} (${least}–${most}; ${ours.toFixed(0)}/s against ${theirs.toFixed(0)}/s),`,
    `aim ${aim}: ${met ? 'met' : 'missed'}`,
  ].join(' ');
}

// Ignore a closed pipe, as of `| head`, so that the run still stops what it started.
process.stdout.on('error', () => undefined);

// Targets are reported, not enforced: ratios differ between machines. Only errors fail the run.
const counting =
  values.statements || positionals.includes('growth') || positionals.includes('builds');
await withBenchEnvironment(run, { counting });
if (values.json) writeFileSync(values.json, `${JSON.stringify({ ...pace, results }, null, 2)}\n`);
