import { randomUUID } from 'node:crypto';
import { readConfig } from '../platform/config.ts';
import { handle } from '../platform/eventstore/handle.ts';
import type { PrincipalOf } from '../platform/http/principal.ts';
import type { Route } from '../platform/http/route.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { snapshot } from '../platform/postgres/reads.ts';
import { isRefusal } from '../platform/refusal.ts';
import { createCore } from '../services/compose.ts';
import { membershipReview } from '../services/disabling/review.ts';
import { claim } from '../services/moderation/claims/claims.ts';
import { decisionOn } from '../services/moderation/decisions/commands.ts';
import { reviewContract } from '../services/moderation/decisions/contract.ts';
import { reviewCommand } from '../services/moderation/decisions/decide.ts';
import { deskOptions } from '../services/moderation/decisions/desk.ts';
import { queueContract } from '../services/moderation/queue/contract.ts';
import { queueCounts } from '../services/moderation/queue/queue-counts.ts';
import { queuePage } from '../services/moderation/queue/queue-page.ts';
import { moderatorAuthenticator } from '../services/moderation/staff/authenticate.ts';
import { byModerator } from '../services/moderation/staff/by-moderator.ts';
import { addModerator } from '../services/moderation/staff/moderators.ts';
import type { Bench, BenchEnvironment } from './environment.ts';
import { loops } from './load.ts';
import { type ClaimLoad, claimLoad, createCaller } from './main-requests.ts';
import { type Comparison, type Contender, percentile } from './pair.ts';
import { moderatorTokens, serviceOn, startWeb } from './service.ts';
import { startApiFloor } from './updates.ts';

const MODERATORS = 32;
const PENDING = 10_000;
/** Of claim-next, 95th percentile with all moderators. */
const AIM_MS = 30;
const PAGE = 50;

type Desk = Awaited<ReturnType<typeof openDesk>>;
type Moderator = PrincipalOf<'moderator'>;

/** Compares claims with a bare handler that leases a row, and a queue page with a short queue's. */
export const queue: Bench = {
  name: 'queue',
  async prepare(setting) {
    process.stdout.write(`${await drain(await openDesk(setting, PENDING))}\n`);
    const claims = await claimsBesideFloor(setting);
    const [large, small] = [await openDesk(setting, 100_000), await openDesk(setting, 1000)];
    return [
      claims,
      {
        name: `a queue page of ${PAGE} with counts at 100,000 pending`,
        ours: pages(large),
        floors: [{ aim: 1 / 1.3, name: 'the same at 1,000 pending', contender: pages(small) }],
      },
    ];
  },
};

async function openDesk(setting: BenchEnvironment, pending: number) {
  const url = await setting.database('migrated');
  await seed(url, pending);
  const config = readConfig({
    DATABASE_URL: url,
    DATABASE_POOL_SIZE: String(MODERATORS),
    SERVER_KEYS: setting.serverKeys,
  });
  const core = await createCore(config, 'bench');
  setting.onEnd(core.close);
  const authenticate = moderatorAuthenticator(core.pool, core.keys);
  const moderators: Moderator[] = [];
  for (let n = 0; n < MODERATORS; n++) {
    const added = await addModerator(core, `Moderator ${n}`, 'moderator');
    if (isRefusal(added)) throw new Error(added.refused);
    const presented = { authorization: `Bearer ${added.token}`, cookie: undefined };
    const principal = await authenticate(presented);
    if (isRefusal(principal)) throw new Error(principal.refused);
    moderators.push(principal);
  }
  return { core, moderators };
}

/** Inserts guest notes with their events, submitted one second apart. */
async function seed(url: string, count: number): Promise<void> {
  await withConnection(url, async (client) => {
    await client.query(
      `WITH seeded AS (SELECT gen_random_uuid() AS id, now() - make_interval(secs => $1 - n) AS at, n
      FROM generate_series(1, $1::int) n),
    logged AS (INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data,
        personal, actor, recorded_at)
      SELECT id, 'note-' || id, 1, gen_random_uuid(), 'NoteSubmitted', jsonb_build_object(
        'note_id', id, 'experience', 'service', 'attribution', 'guest', 'parent_id', null,
        'member_id', null), jsonb_build_object('name', '', 'message', 'Note ' || n),
        '{"type": "guest"}', at FROM seeded ORDER BY n)
    INSERT INTO notes (note_id, owner_id, experience, attribution, name, message, state, version,
      submitted_at)
    SELECT id, id, 'service', 'guest', '', 'Note ' || n, 'pending', 1, at FROM seeded`,
      [count],
    );
    await client.query('VACUUM ANALYZE');
  });
}

const callOf = <R extends Route>(operation: string, route: R, principal: Moderator) => ({
  operation,
  params: undefined,
  route,
  sent: {},
  principal,
  request: { idempotencyKey: undefined },
});

async function claimOne({ core }: Desk, principal: Moderator): Promise<string | undefined> {
  const claimed = await claim(
    { pool: core.pool, store: core.store, publicationKinds: [], membershipReview },
    callOf('moderation.claim', queueContract['moderation.claim'], principal),
    { count: 1 },
  );
  if (isRefusal(claimed)) throw new Error(JSON.stringify(claimed));
  return claimed.body[0]?.subject.id;
}

/** Has the moderators claim and decide every note; throws if a note was claimed twice. */
async function drain(desk: Desk): Promise<string> {
  const claimed: string[] = [];
  const milliseconds: number[] = [];
  const started = performance.now();
  await Promise.all(
    desk.moderators.map(async (me) => {
      for (;;) {
        const asked = performance.now();
        const noteId = await claimOne(desk, me);
        milliseconds.push(performance.now() - asked);
        if (!noteId) return;
        claimed.push(noteId);
        const approve = decisionOn(noteId, { action: 'approve', expected_version: 1 });
        const call = callOf('moderation.decide', reviewContract['moderation.decide'], me);
        const command = reviewCommand(approve, deskOptions(desk.core));
        const decided = await handle(desk.core.store, byModerator(call), command);
        if (isRefusal(decided)) throw new Error(JSON.stringify(decided));
      }
    }),
  );
  const double = claimed.length - new Set(claimed).size;
  if (double > 0 || claimed.length !== PENDING)
    throw new Error(`${claimed.length} claims, ${double} of them double`);
  const p95 = percentile(milliseconds, 0.95);
  const rate = (claimed.length * 1000) / (performance.now() - started);
  return `queue / 10,000 notes claimed and decided by ${MODERATORS}: none twice, ${rate.toFixed(0)}/s, claim-next p95 ${p95.toFixed(1)} ms, aim ${AIM_MS} ms`;
}

/** Both sides answer over HTTP, from processes of their own, and release ten claims after ten. */
async function claimsBesideFloor(setting: BenchEnvironment): Promise<Comparison> {
  const url = await setting.database('migrated');
  await seed(url, PENDING);
  const service = await serviceOn(setting, url);
  await startWeb(setting, service);
  const tokens = await moderatorTokens(service, MODERATORS);
  const floor = await startApiFloor(setting, await setting.database('empty'));
  const [ours, theirs] = [service.base, floor].map((base) =>
    claimLoad(createCaller(setting, base).post, tokens),
  ) as [ClaimLoad, ClaimLoad];
  const p95 = ({ milliseconds }: ClaimLoad) => percentile(milliseconds, 0.95).toFixed(1);
  return {
    name: `claim-next over HTTP, ${MODERATORS} moderators, ${PENDING.toLocaleString('en')} pending`,
    ours: ours.load(MODERATORS),
    floors: [
      {
        aim: 0.6,
        name: 'bare Express, one UPDATE … (SELECT … FOR UPDATE SKIP LOCKED LIMIT 1)',
        contender: theirs.load(MODERATORS),
      },
    ],
    seen: () =>
      `claim-next / p95 ${p95(ours)} ms, of the bare handler ${p95(theirs)} ms; aim ${AIM_MS} ms`,
  };
}

function pages({ core, moderators }: Desk): Contender {
  const countsFor = queueCounts(core.pool, membershipReview);
  const me = {
    moderatorId: moderators[0]?.moderatorId ?? randomUUID(),
    role: 'moderator' as const,
  };
  return loops(4, async () => {
    const { statements, toCounts } = countsFor(me);
    const page = queuePage('todo', me, {}, PAGE + 1, undefined);
    const [, counted, ofMembers] = await snapshot(core.pool, [page, ...statements]);
    await toCounts(counted, ofMembers);
  });
}
