import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import type { Kind, Outcome, Step, Tally } from './crowd-caller.ts';
import type { BenchEnvironment, LongBenchmark } from './environment.ts';
import { publishNotes } from './guestbook.ts';
import { median, type Result } from './pair.ts';
import { addModerators, serviceOn, startWeb } from './service.ts';

const ROUNDS = 4;
const CALLERS = 16;
const CAPACITY_SECONDS = 2;
/** How many times the capacity a crowd is, and for how many seconds. */
const CROWDS = {
  '1 × capacity': { seconds: 3, times: { strangers: 1, moderators: 1 } },
  '3 × capacity': { seconds: 6, times: { strangers: 3, moderators: 3 } },
  '3 × capacity, moderators as before': { seconds: 6, times: { strangers: 3, moderators: 1 } },
} as const;
type Crowd = keyof typeof CROWDS;
const CROWD_NAMES = Object.keys(CROWDS) as Crowd[];
const OVERLOAD = '3 × capacity';
const AIM = 0.9;
const KINDS: readonly Kind[] = ['read', 'list', 'write', 'moderator', 'health'];

interface Side {
  name: string;
  base: string;
}

/** What one side did in one round. */
interface Turn {
  capacity: number;
  outcomes: Record<Crowd, Outcome>;
}

/**
 * Sends a mixed crowd at once and three times the capacity of a web process, and then one of strangers alone, while
 * moderators work as before. With the folder of another checkout, a process of each alternates on the same database.
 */
export const crowd: LongBenchmark = {
  name: 'crowd',
  async measure(setting, { beside }, tell) {
    const service = await serviceOn(setting, await setting.database('migrated'));
    const { DATABASE_URL = '' } = service.env;
    const sides: Side[] = [{ name: 'this build', base: service.base }];
    const pids = [await startWeb(setting, service)];
    const { token } = await addModerators(service, 'Crowd', 'moderator');
    await publishNotes(service.base, token);
    if (beside) {
      const other = await serviceOn(setting, DATABASE_URL);
      pids.push(await startWeb(setting, other, resolve(beside)));
      sides.push({ name: beside, base: other.base });
    }
    const caller = startCaller(setting);
    process.stdout.write(`${pin(caller.pid ?? 0, [...pids, ...(await databasePids(setting))])}\n`);
    const ask = (side: Side, step: Omit<Step, 'base' | 'token'>) =>
      run(caller, { ...step, base: side.base, token });
    const capacity = async (side: Side) =>
      goodPerSecond(
        await ask(side, { callers: CALLERS, seconds: CAPACITY_SECONDS }),
        CAPACITY_SECONDS,
      );

    for (const side of sides) await capacity(side);
    const turns = sides.map((): Turn[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      const order = [...sides.entries()];
      if (round % 2 === 1) order.reverse();
      const most: number[] = [];
      for (const [at, side] of order) most[at] = await capacity(side);
      // Both sides get the same crowd.
      const rate = most.reduce((sum, each) => sum + each, 0) / sides.length;
      for (const [at, side] of order) {
        const outcomes = {} as Turn['outcomes'];
        for (const name of CROWD_NAMES) outcomes[name] = await ask(side, { rate, ...CROWDS[name] });
        turns[at]?.push({ capacity: most[at] ?? Number.NaN, outcomes });
      }
    }
    const good = turns.map((measured) =>
      measured.map(({ outcomes }) => goodPerSecond(outcomes[OVERLOAD], CROWDS[OVERLOAD].seconds)),
    );
    for (const [at, { name }] of sides.entries()) {
      const measured = turns[at] ?? [];
      process.stdout.write(`${name}\n${describe(measured)}`);
      const most = measured.map(({ capacity }) => capacity);
      tell(ratio(`${name}: good answers at 3 × capacity`, good[at], 'at capacity', most, AIM));
    }
    if (beside) tell(ratio('good answers at 3 × capacity', good[0], beside, good[1], 1));
  },
};

function ratio(
  name: string,
  ours: readonly number[] = [],
  floor: string,
  theirs: readonly number[] = [],
  aim: number,
): Result {
  const ratios = ours.map((rate, round) => rate / (theirs[round] ?? Number.NaN));
  return {
    name,
    floor,
    ours: median(ours),
    theirs: median(theirs),
    ratio: median(ratios),
    range: [Math.min(...ratios), Math.max(...ratios)],
    aim,
    met: median(ratios) >= aim,
  };
}

/** The processes of the database that exist already; those that it starts later are where it is. */
async function databasePids({ server }: BenchEnvironment): Promise<number[]> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
      UNION SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int`,
    );
    return rows.map(({ pid }) => pid);
  } finally {
    await client.end();
  }
}

function startCaller({ onEnd }: BenchEnvironment): ChildProcess {
  const caller = fork(join(import.meta.dirname, 'crowd-caller.ts'));
  const ended = once(caller, 'exit');
  onEnd(async () => {
    caller.kill();
    await ended;
  });
  return caller;
}

async function run(caller: ChildProcess, step: Step): Promise<Outcome> {
  const done = new AbortController();
  const { signal } = done;
  caller.send(step);
  try {
    const ended = once(caller, 'exit', { signal }).then(() => {
      throw new Error('the generator ended');
    });
    const [outcome] = await Promise.race([once(caller, 'message', { signal }), ended]);
    return outcome as Outcome;
  } finally {
    done.abort();
  }
}

/** Gives the generator one processor and the service another, where the system can; says which. */
function pin(caller: number, service: readonly number[]): string {
  if (availableParallelism() < 2) return 'one processor for all';
  try {
    const [first = 0, second = 1] = allowedProcessors();
    const on = (processor: number, pid: number) =>
      execFileSync('taskset', ['-a', '-c', '-p', String(processor), String(pid)]);
    on(first, caller);
    for (const pid of service) on(second, pid);
    return `the generator on processor ${first}, service and PostgreSQL on ${second}`;
  } catch {
    return 'generator, service and PostgreSQL share all processors (no taskset here)';
  }
}

/** The numbers of the processors that this process may use, as `0-3,6`. */
function allowedProcessors(): number[] {
  const status = readFileSync('/proc/self/status', 'utf8');
  const [, list = ''] = /^Cpus_allowed_list:\s+(\S+)/m.exec(status) ?? [];
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}

function goodPerSecond({ tallies }: Outcome, seconds: number): number {
  return KINDS.reduce((sum, kind) => sum + tallies[kind].good, 0) / seconds;
}

function describe(turns: readonly Turn[]): string {
  return CROWD_NAMES.map((name) => {
    const { seconds } = CROWDS[name];
    const outcomes = turns.map((turn) => turn.outcomes[name]);
    const over = (take: (outcome: Outcome) => number) => median(outcomes.map(take));
    const sum = (take: (tally: Tally) => number) =>
      over(({ tallies }) => KINDS.reduce((total, kind) => total + take(tallies[kind]), 0));
    const kinds = KINDS.map((kind) => {
      const served = over(({ tallies }) => tallies[kind].good / tallies[kind].sent);
      return `${kind} ${(served * 100).toFixed(0)} %, ${over(({ tallies }) => tallies[kind].p95).toFixed(0)} ms`;
    });
    const rate = over((outcome) => goodPerSecond(outcome, seconds));
    return (
      `  ${name}: ${rate.toFixed(0)} good/s of ${(sum(({ sent }) => sent) / seconds).toFixed(0)}; ` +
      `refused ${sum(({ refused }) => refused)}, late ${sum(({ late }) => late)}, lost ${sum(({ lost }) => lost)}; ` +
      `recovered after ${over(({ recovery }) => recovery).toFixed(1)} s; ` +
      `generator ${over(({ busy }) => busy * 100).toFixed(0)} % busy, ${over(({ lag }) => lag).toFixed(0)} ms late\n` +
      `    served within 1 s, p95 of what was answered: ${kinds.join('; ')}\n`
    );
  }).join('');
}
