import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { assertRebuilt } from '../test/harness/rebuilt.ts';
import { check } from './check.ts';
import { breakThings } from './faults.ts';
import { openCall, openHistory } from './history.ts';
import { type Common, openMember } from './member.ts';
import { MUTANT_NAMES } from './mutant.ts';
import { seeded } from './random.ts';
import { moderate, readFeed, visit } from './reader.ts';
import { leaks } from './secrets.ts';
import { openStage } from './stage.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    mutant: { type: 'string' },
  },
});
const { mutant } = values;
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (!(seconds > 0) || !Number.isInteger(seed) || (mutant && !MUTANT_NAMES.includes(mutant))) {
  process.stderr.write(
    `Usage: npm run proof -- [--seconds N] [--seed S] [--mutant ${MUTANT_NAMES.join('|')}]\n`,
  );
  process.exit(1);
}

const MEMBERS = 12;
const HANDS = 3;
const LIMITS = { writes: 40, credentials: 10 };

const say = (line: string) => process.stdout.write(`${line}\n`);
say(`seed ${seed}, ${seconds} s${mutant ? `, mutant ${mutant}` : ''}`);
const random = seeded(seed);
const many = '1000000';
const stage = await openStage(
  {
    LIMIT_KEY_ATTEMPTS: many,
    LIMIT_BOOTSTRAP_ATTEMPTS: many,
    LIMIT_REGISTRATIONS_PER_DAY: many,
    LIMIT_NOTES_PER_TEN_MINUTES: many,
    LIMIT_NOTES_PER_DAY: many,
    LIMIT_WRITES_PER_DAY: String(LIMITS.writes),
    LIMIT_ACTIVE_CREDENTIALS: String(LIMITS.credentials),
    LOG_LEVEL: 'info',
  },
  mutant,
);

async function moderatorToken(name: string): Promise<string> {
  const command = join(import.meta.dirname, '../services/moderator-command.ts');
  const env = { ...stage.env, DATABASE_URL: stage.url(), DATABASE_DIRECT_URL: stage.url() };
  const args = [command, 'add', name, '--role', 'moderator'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return stdout.trim().split('\n').at(-1) ?? '';
}

async function run(): Promise<string[]> {
  const history = openHistory();
  const choice = random.fork();
  const call = openCall(stage.addresses, () => choice.below(1000));
  const common: Common = { call, history, cases: [], until: Infinity, quiet: false };
  const tokens = [await moderatorToken('ann'), await moderatorToken('bob')];
  for (const token of tokens) history.secrets.add(token.split('.').at(-1) ?? '');
  const members = Array.from({ length: MEMBERS }, (_, index) =>
    openMember(common, random.fork(), `member_${index}`),
  );
  await Promise.all(members.map((member) => member.register()));

  common.until = history.now() + seconds * 1000;
  const readers = members.map((member) => readFeed(common, random.fork(), member));
  await Promise.all([
    breakThings(stage, history, random.fork(), common.until),
    visit(common),
    ...tokens.map((token) => moderate(common, random.fork(), token)),
    ...members.flatMap((member) => Array.from({ length: HANDS }, () => member.hand())),
  ]);
  await stage.ready();
  common.quiet = true;
  const feeds = await Promise.all(readers);
  await stage.stopProcesses();

  const by = (outcome: string) => history.entries.filter((entry) => entry.outcome === outcome);
  say(
    `${history.entries.length} operations: ${by('done').length} done, ${by('refused').length} ` +
      `refused, ${by('unknown').length} unknown; ${history.faults.length} faults`,
  );
  for (const [name, { length }] of Map.groupBy(history.faults, (fault) => fault))
    say(`  ${length} × ${name}`);

  const pool = new pg.Pool({ connectionString: stage.url(), max: 4 });
  pool.on('error', () => undefined);
  const wrong = await check(pool, history, feeds, LIMITS);
  await assertRebuilt({ url: stage.url(), pool }).catch((error: Error) => {
    wrong.push(`a read model differs from its rebuild: ${error.message.slice(0, 500)}`);
  });
  const files = { log: stage.logFile, wal: stage.walFolder };
  wrong.push(...(await leaks(pool, [...history.secrets], files)));
  await pool.end();
  return wrong;
}

let wrong: string[];
try {
  wrong = await run();
} finally {
  await stage.close();
}
for (const fault of wrong.slice(0, 20)) say(`WRONG ${fault}`);
say(
  wrong.length === 0
    ? 'Nothing is wrong.'
    : `${wrong.length} things are wrong. Again: --seed ${seed} --seconds ${seconds}`,
);
// A mutant is there to be found.
process.exitCode = (wrong.length === 0) === (mutant === undefined) ? 0 : 1;
