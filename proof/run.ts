import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Role } from '../domain/permissions.ts';
import { readConfig } from '../platform/config.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { isRefusal } from '../platform/refusal.ts';
import { membersToErase } from '../projections/membership/members.ts';
import { createCore } from '../services/compose.ts';
import { addModerator } from '../services/moderation/staff/moderators.ts';
import { check, type Verdict } from './check.ts';
import type { SharedRunState } from './client.ts';
import { createContention } from './contention.ts';
import type { ProofEnvironment } from './environment.ts';
import { breakThings, possibleFaults } from './faults.ts';
import { createHistory, type History, type ObservedFeed, startCall } from './history.ts';
import type { Limits } from './limits.ts';
import { readLogFacts } from './log-facts.ts';
import { createProofMember, type Member } from './member.ts';
import { createProofModerator } from './moderator.ts';
import { createOperations } from './operations.ts';
import { type FaultName, planOf } from './plan.ts';
import { type Random, seeded } from './random.ts';
import { readFeed, visit } from './reader.ts';
import { differFromRebuild } from './rebuilt.ts';
import { sealFaults, sealOften, sealRest } from './sealed.ts';
import { leaks } from './secrets.ts';

/** The first two work through the queue; the others decide together in bursts. */
const MODERATORS: readonly (readonly [name: string, role: Role])[] = [
  ['ann', 'moderator'],
  ['eve', 'lead'],
  ['bob', 'moderator'],
  ['cat', 'moderator'],
  ['dan', 'moderator'],
];
const SEATS = 10;
const HANDS = 3;
/** Actions of each hand before its member leaves and another registers. */
const LIFE = 18;
/** Longer than the heartbeat after which another worker takes over a killed worker's erasure. */
const ERASURE_MS = 90_000;
const ERASURE_STEP_MS = 500;

/** Runs concurrent clients on the stage while faults strike, then checks every rule. */
export async function run(
  stage: ProofEnvironment,
  {
    seconds,
    seed,
    limits,
    undoMs,
    faults,
  }: {
    seconds: number;
    seed: number;
    limits: Limits;
    undoMs: number;
    /** The faults to cause; all by default. */
    faults: readonly FaultName[] | undefined;
  },
  say: (line: string) => void,
): Promise<Verdict[]> {
  const random = seeded(seed);
  // Separate generators, so that the draws of one do not change those of another.
  const plan = random.fork();
  const choice = random.fork();
  const bursting = random.fork();
  const moderating = random.fork();
  const history = createHistory();
  for (const secret of stage.secrets) history.secrets.add(secret);
  const call = startCall(stage.addresses, () => choice.below(1000), stage.keep);
  const common: SharedRunState = {
    call,
    history,
    until: history.now() + seconds * 1000,
    quiet: false,
    cases: [],
    artifacts: [],
    notes: [],
  };
  const moderators = (await addModerators(stage)).map((token) => {
    history.secrets.add(token.split('.').at(-1) ?? '');
    return createProofModerator(common, moderating.fork(), token);
  });
  const [working, rushing] = [moderators.slice(0, 2), moderators.slice(2)];
  const bursts = createContention(common, rushing, limits);

  common.until = history.now() + seconds * 1000;
  const readers: Promise<ObservedFeed>[] = [];
  await Promise.all([
    breakThings(
      stage,
      history,
      planOf(plan, bursts.names, faults ?? possibleFaults(stage)),
      bursts.run,
      bursting,
      common.until,
      say,
    ),
    visit(common, random.fork()),
    sealOften(stage.url, common.until, history.now),
    ...working.map(({ work }) => work()),
    ...Array.from({ length: SEATS }, (_, seat) => live(common, random.fork(), seat, readers)),
  ]);
  await stage.ready();
  const unerased = await eraseAll(stage.url());
  const unsealed = await sealRest(stage.url());
  await stage.stop(stage.workers);
  common.quiet = true;
  const seen = await Promise.all(readers);
  await stage.stop(stage.web);
  tell(history, seen, say);

  const pool = new pg.Pool({ connectionString: stage.url(), max: 4 });
  pool.on('error', () => undefined);
  try {
    const verdicts = check(history, await readLogFacts(pool), seen, limits, undoMs);
    const { found, searched } = await leaks(pool, history.secrets, await stage.places());
    const words = await wordsOfErased(pool, history);
    const mb = Math.round(searched / 1e6);
    return [
      ...verdicts,
      { rule: 'every deleted account is erased', wrong: unerased },
      {
        rule: 'the sealed log equals its tree, and no salt outlives its words',
        wrong: [...unsealed, ...(await sealFaults(stage.url()))],
      },
      {
        rule: `no words of ${words.size} erased accounts stand in a table`,
        wrong: (await leaks(pool, words, [])).found,
      },
      {
        rule: 'every read model equals its rebuild',
        wrong: await differFromRebuild(stage.url(), pool),
      },
      {
        rule: `none of ${history.secrets.size} secrets stands in ${mb} MB of logs, dump, WAL and answers`,
        wrong: found,
      },
    ];
  } finally {
    await pool.end();
  }
}

/**
 * Waits for the workers to erase deleted accounts and returns those that remain. Half way through
 * an erasure, the read models still hold what the log has erased, so a rebuild would differ.
 */
function eraseAll(url: string): Promise<string[]> {
  return withConnection(url, async (client) => {
    for (let waited = 0; ; waited += ERASURE_STEP_MS) {
      const { rows } = await client.query<{ member_id: string }>(membersToErase(10));
      if (rows.length === 0 || waited >= ERASURE_MS)
        return rows.map(({ member_id }) => `${member_id} is deleted and not erased`);
      await sleep(ERASURE_STEP_MS);
    }
  });
}

async function wordsOfErased(pool: pg.Pool, { words }: History): Promise<Set<string>> {
  const { rows } = await pool.query<{ member_id: string }>(
    'SELECT member_id FROM members WHERE erased_at IS NOT NULL',
  );
  return new Set(rows.flatMap(({ member_id }) => words.get(member_id) ?? []));
}

/** Runs one member after another in a seat, each with several hands and a feed reader. */
async function live(
  common: SharedRunState,
  random: Random,
  seat: number,
  readers: Promise<ObservedFeed>[],
): Promise<void> {
  const { history } = common;
  for (let life = 1; history.now() < common.until; life++) {
    const member = createProofMember(common, random.fork(), `member_${seat}_${life}`);
    if (!(await member.register())) {
      await sleep(100);
      continue;
    }
    await member.renew();
    readers.push(readFeed(common, random.fork(), member));
    await Promise.all(Array.from({ length: HANDS }, () => hand(common, random.fork(), member)));
    // A member that exists at the end of the run stays, and its reader reads the whole feed.
    while (!member.gone() && history.now() < common.until) await member.remove();
  }
}

async function hand(common: SharedRunState, random: Random, member: Member): Promise<void> {
  const { something } = createOperations(common, random, member);
  for (let deed = 0; deed < LIFE; deed++) {
    if (common.history.now() >= common.until || member.gone()) return;
    await something();
    await sleep(random.below(20));
  }
}

/** Adds the moderators, and returns their tokens. */
async function addModerators(stage: ProofEnvironment): Promise<string[]> {
  const env = { ...stage.env, DATABASE_URL: stage.url(), DATABASE_DIRECT_URL: stage.url() };
  const core = await createCore(readConfig(env), 'proof');
  try {
    return await Promise.all(
      MODERATORS.map(async ([name, role]) => {
        const added = await addModerator(core, name, role);
        if (isRefusal(added)) throw new Error(added.refused);
        return added.token;
      }),
    );
  } finally {
    await core.close();
  }
}

function tell(
  { entries, faults, sightings, ownReads }: History,
  seen: readonly ObservedFeed[],
  say: (line: string) => void,
) {
  const rows = [...Map.groupBy(entries, ({ operation }) => operation)].sort();
  const row = (name: string, of: typeof entries) => {
    const by = (outcome: string) => of.filter((entry) => entry.outcome === outcome).length;
    const cells = [by('done'), by('refused'), by('unknown')].map((n) => String(n).padStart(9));
    say(`${name.padEnd(22)}${cells.join('')}`);
  };
  say(
    `\n${'operation'.padEnd(22)}${['done', 'refused', 'unknown'].map((w) => w.padStart(9)).join('')}`,
  );
  for (const [operation, of] of rows) row(operation, of);
  row('all', entries);
  const read = seen.reduce((sum, { events }) => sum + events.length, 0);
  say(
    `\n${faults.length} faults; ${seen.length} feeds read, ${read} entries; ` +
      `${sightings.length} sightings of public notes, ${ownReads.length} reads of own writes`,
  );
}
