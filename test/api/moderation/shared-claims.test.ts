import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { addModerator, submit } from '../../../harness/moderation.ts';
import { definePlan } from '../../../platform/eventstore/plan.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { sql } from '../../../platform/sql.ts';
import { membershipReview } from '../../../services/disabling/review.ts';
import { changeLeases, claim } from '../../../services/moderation/claims/claims.ts';
import { releaseLeases } from '../../../services/moderation/claims/leases.ts';
import { queueContract } from '../../../services/moderation/queue/contract.ts';
import { moderatorAuthenticator } from '../../../services/moderation/staff/authenticate.ts';
import { revokeModerator } from '../../../services/moderation/staff/moderators.ts';
import { whileWaitingForLock } from '../../support/meanwhile.ts';
import { startService } from '../../support/service.ts';

type Moderator = PrincipalOf<'moderator'>;

/** Moderators at a queue of notes. Claims that start in one turn of the event loop share a transaction. */
async function openDesk(t: Test, moderators: number, waiting: number) {
  const service = await startService(t, { GROUP_COMMIT: 'on' });
  const { core } = service;
  const authenticate = moderatorAuthenticator(core.pool, core.keys);

  async function moderator(name: string, role: 'moderator' | 'lead' = 'moderator') {
    const { token } = await addModerator(service, name, role);
    const principal = await authenticate({ authorization: `Bearer ${token}`, cookie: undefined });
    if (isRefusal(principal)) throw new Error(principal.refused);
    return principal;
  }

  /** The notes that a moderator gets, or the refusal. */
  async function claimNext(principal: Moderator, key = randomUUID(), count = 1) {
    const claimed = await claim(
      { ...core, publicationKinds: [], membershipReview },
      {
        operation: 'moderation.claim',
        route: queueContract['moderation.claim'],
        params: undefined,
        sent: { count },
        principal,
        request: { idempotencyKey: key },
      },
      { count },
    );
    return isRefusal(claimed) ? [claimed] : claimed.body.map(({ subject }) => subject.id);
  }

  /** The ids of the leases that a moderator releases, or the refusal. */
  async function release(principal: Moderator, leaseIds: string[], key?: string) {
    const released = await changeLeases(
      core.store,
      {
        operation: 'moderation.release',
        route: queueContract['moderation.release'],
        params: undefined,
        sent: { lease_ids: leaseIds },
        principal,
        request: { idempotencyKey: key },
      },
      releaseLeases(principal.moderatorId, leaseIds),
    );
    return isRefusal(released) ? [released] : released.body;
  }

  const leases = async () =>
    (
      await core.pool.query<{
        lease: string;
        note: string;
        moderator: string;
        transaction: string;
      }>(
        `SELECT lease_id AS lease, note_id AS note, moderator_id AS moderator, xmin::text AS transaction FROM note_leases`,
      )
    ).rows;
  /** How many times of claims each transaction has charged or refunded last. */
  const charges = async () =>
    (
      await core.pool.query<{ count: number }>(
        'SELECT count(*)::int FROM claim_times GROUP BY xmin::text',
      )
    ).rows.map(({ count }) => count);
  const desk: Moderator[] = [];
  for (let n = 0; n < moderators; n++) desk.push(await moderator(`Moderator ${n}`));
  const notes: string[] = [];
  for (let n = 0; n < waiting; n++) notes.push((await submit(service)).id);
  return {
    service,
    moderator,
    desk: desk as [Moderator, Moderator],
    notes,
    claimNext,
    release,
    leases,
    charges,
  };
}

t.test(
  'claims of several moderators share a transaction, and each gets the next note',
  async (t) => {
    const { service, moderator, desk, notes, claimNext, leases } = await openDesk(t, 5, 8);
    const lead = await moderator('Lead', 'lead');
    const other = definePlan({
      load: sql<{ xid: string }>`SELECT pg_current_xact_id()::text AS xid`,
      decide: ({ rows }) => ({ unchanged: rows[0]?.xid }),
    });
    const [ofLead, transactionOfOther, ...claimed] = await Promise.all([
      claimNext(lead),
      service.core.store.execute(other),
      ...desk.map((me) => claimNext(me)),
    ]);
    t.same([ofLead, ...claimed].flat().toSorted(), notes.slice(0, 6).toSorted());
    const order = claimed.map(([id]) => notes.indexOf(String(id)));
    t.same(order, order.toSorted(), 'the oldest note goes to the first');
    const rows = await leases();
    t.same(
      rows.map((row) => `${row.moderator} ${row.note}`).toSorted(),
      [lead, ...desk]
        .map(({ moderatorId }, at) => `${moderatorId} ${[ofLead, ...claimed][at]}`)
        .toSorted(),
    );
    const transactions = new Set(rows.map(({ transaction }) => transaction));
    t.equal(transactions.size, 1);
    t.notOk(transactions.has(String(transactionOfOther)), 'no other command is among them');
    const { rows: receipts } = await service.core.pool.query(
      `SELECT FROM receipts WHERE operation = 'moderation.claim'`,
    );
    t.equal(receipts.length, 6);
  },
);

t.test('a claim that is refused or repeated takes no note from the others', async (t) => {
  const { service, moderator, notes, claimNext, leases } = await openDesk(t, 0, 16);
  const busy = await moderator('Busy');
  const revoked = await moderator('Revoked');
  const again = await moderator('Again');
  const [ann, bob] = [await moderator('Ann'), await moderator('Bob')];
  const key = randomUUID();
  t.same((await claimNext(busy, randomUUID(), 10)).toSorted(), notes.slice(0, 10).toSorted());
  t.same(await claimNext(again, key), [notes[10]]);
  await revokeModerator(service.core, revoked.moderatorId);

  const [full, refused, repeated, ...claimed] = await Promise.all([
    claimNext(busy),
    claimNext(revoked),
    claimNext(again, key),
    claimNext(ann),
    claimNext(bob),
  ]);
  t.match(full, [{ refused: 'state_conflict', details: { reason: 'claim_limit' } }]);
  t.match(refused, [{ refused: 'moderator_required' }]);
  t.same(repeated, [notes[10]]);
  // The claims of a transaction that fails run each alone, at the same time, so that an older note may be skipped.
  t.same(
    claimed.map((ids) => ids.length),
    [1, 1],
  );
  const held = (await leases()).map(({ note }) => note);
  t.equal(held.length, 13);
  t.ok(claimed.flat().every((id) => held.includes(String(id)) && notes.indexOf(String(id)) > 10));
  t.notOk((await leases()).some((row) => row.moderator === revoked.moderatorId));
});

t.test(
  'releases share a transaction with claims, and each ends the leases of its moderator',
  async (t) => {
    const { moderator, desk, notes, claimNext, release, leases, charges } = await openDesk(t, 3, 4);
    const other = await moderator('Other');
    await Promise.all(desk.map((me) => claimNext(me)));
    const ids = (await leases()).map(({ lease }) => lease);
    const leaseOf = new Map((await leases()).map(({ lease, moderator }) => [moderator, lease]));
    const [claimed, ...released] = await Promise.all([
      claimNext(other),
      ...desk.map((me) => release(me, ids, randomUUID())),
    ]);
    t.same(claimed, [notes[3]]);
    t.same(
      released,
      desk.map(({ moderatorId }) => [leaseOf.get(moderatorId)]),
    );
    t.match(await leases(), [{ note: notes[3], moderator: other.moderatorId }]);
    t.same(await charges(), [4], 'one transaction');
  },
);

t.test(
  'a release without a key shares no transaction, because its commit does not wait for the disk',
  async (t) => {
    const { moderator, desk, claimNext, release, leases, charges } = await openDesk(t, 1, 2);
    const [me] = desk;
    const other = await moderator('Other');
    await claimNext(me);
    const [{ lease } = { lease: '' }] = await leases();
    const [claimed, released] = await Promise.all([claimNext(other), release(me, [lease])]);
    t.equal(claimed.length, 1);
    t.same(released, [lease]);
    t.same(await charges(), [1, 1], 'two transactions');
  },
);

t.test('a moderator whose time for a note is used up gets another note', async (t) => {
  const { service, desk, notes, claimNext } = await openDesk(t, 2, 3);
  const [ann, bob] = desk;
  await service.core.pool.query(
    `INSERT INTO claim_times (moderator_id, subject_type, note_id, used, ended_at)
      VALUES ($1, 'note', $2, '30 minutes', clock_timestamp())`,
    [ann.moderatorId, notes[0]],
  );
  const claimed = await Promise.all([claimNext(ann), claimNext(bob)]);
  t.same(claimed, [[notes[2]], [notes[1]]]);
  t.same(await claimNext(bob), [notes[0]]);
});

t.test(
  'each of the last notes goes to one of several moderators, and the others get no note',
  async (t) => {
    const { service, desk, notes, claimNext, leases } = await openDesk(t, 5, 2);
    const claimed = await Promise.all(desk.map((me) => claimNext(me)));
    t.same(claimed.flat().toSorted(), notes.toSorted());
    t.same(await Promise.all(desk.map((me) => claimNext(me))), [[], [], [], [], []]);
    t.equal((await leases()).length, 2);
    const { rows } = await service.core.pool.query(
      `SELECT FROM receipts WHERE operation = 'moderation.claim'`,
    );
    t.equal(rows.length, 2, 'a claim without a note has no receipt');
  },
);

t.test('several claims among which another one takes a note get the next ones', async (t) => {
  const { service, moderator, desk, notes, claimNext, leases } = await openDesk(t, 3, 5);
  const { moderatorId } = await moderator('Eve');
  const claimed = await whileWaitingForLock(
    service.core.pool,
    `INSERT INTO note_leases VALUES (gen_random_uuid(), 'note', '${notes[0]}', '${moderatorId}',
      clock_timestamp(), clock_timestamp() + interval '5 minutes')`,
    () => Promise.all(desk.map((me) => claimNext(me))),
    async () => undefined,
  );
  t.same(claimed.flat().toSorted(), notes.slice(1, 4).toSorted());
  t.equal((await leases()).length, 4);
});
