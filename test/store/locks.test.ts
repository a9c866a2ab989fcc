import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { memberOwner } from '../../domain/owners.ts';
import { newAgent } from '../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { definePlan, type Plan } from '../../platform/eventstore/plan.ts';
import { sql } from '../../platform/sql.ts';
import { livingMembersOfCase, membersOfCase } from '../../projections/cases/case-members.ts';
import { countLockWaits, whileWaitingForLock } from '../support/meanwhile.ts';
import { type Service, startService } from '../support/service.ts';

/** Creates a member whose id begins with `digit`, so that the order of ids is known. */
const createMember = async (service: Service, digit: string) =>
  createCaseCommands(await newAgent(service, undefined, { id: digit + randomUUID().slice(1) }));

/** A note on a case, and the locks with which each of its decisions was made. */
function noteCommand(memberId: string, caseId: string) {
  const noteId = randomUUID();
  const locks: (readonly string[])[] = [];
  const command = definePlan({
    lock: [memberId],
    find: membersOfCase(caseId),
    load: livingMembersOfCase(caseId),
    decide({ rows, locked }) {
      locks.push(locked);
      const members = rows.map(({ member_id }) => member_id);
      const data = { case_id: caseId, note_id: noteId, policy_version: 'v1', members };
      return {
        answer: null,
        appends: [
          {
            owner: memberOwner(memberId),
            stream: `case-note-${noteId}`,
            version: 0,
            actor: { type: 'member' as const, id: memberId },
            events: [{ type: 'CaseNoted', data, personal: { message: 'A word' } }],
          },
        ],
      };
    },
  });
  return { command, locks };
}

const lockOf = (id: string) => `SELECT FROM feed_heads WHERE member_id = '${id}' FOR UPDATE`;

for (const held of [false, true])
  t.test(
    held
      ? 'retries a command whose find missed a member whom another transaction has locked'
      : 'locks a member whom find missed, and decides again',
    async (t) => {
      const service = await startService(t);
      const { pool } = service.database;
      const ann = await createMember(service, '0');
      const bob = await createMember(service, '1');
      const author = await createMember(service, '2');
      const caseId = await createOpenCase(author);
      const { command, locks } = noteCommand(ann.agent.id, caseId);
      const holder = await pool.connect();
      t.teardown(() => holder.release());
      // Bob joins the case after the command has found its members.
      const executed = whileWaitingForLock(
        pool,
        lockOf(ann.agent.id),
        () => service.core.store.execute(command),
        async () => {
          t.equal((await bob.note(caseId)).status, 201);
          if (held) await holder.query(`BEGIN; ${lockOf(bob.agent.id)}`);
        },
      );
      if (held) {
        const isRetried = async () => locks.length === 2 && (await countLockWaits(pool)) > 0;
        while (!(await isRetried())) await sleep(10);
        await holder.query('ROLLBACK');
      }
      await executed;
      const [a, b, c] = [ann, bob, author].map(({ agent }) => agent.id);
      t.same(
        locks,
        held
          ? [
              [a, c],
              [a, c],
              [a, b, c],
            ]
          : [
              [a, c],
              [a, c, b],
            ],
      );
      const { rows } = await pool.query(
        `SELECT count(*)::int AS notes FROM feed WHERE member_id = $1 AND type = 'case.noted'`,
        [b],
      );
      t.same(rows, [{ notes: 2 }], 'the member whom find missed is notified');
    },
  );

t.test('locks each member once, in the order of their ids', async (t) => {
  const service = await startService(t);
  const ids: string[] = [];
  for (const digit of ['0', '1', '2']) ids.push((await createMember(service, digit)).agent.id);
  const [first = '', second = '', third = ''] = ids;
  const command: Plan<readonly string[]> = {
    lock: [third, first],
    find: [
      sql`SELECT NULL::uuid AS member_id`,
      sql`SELECT member_id FROM members WHERE member_id = ANY(${ids}::uuid[])`,
    ],
    load: null,
    decide: ({ locked }) => ({ unchanged: locked }),
  };
  const locked = await whileWaitingForLock(
    service.database.pool,
    lockOf(second),
    () => service.core.store.execute(command),
    async () => {
      // The command waits for the second member: it holds the first, and not yet the third.
      const free = await service.database.pool.query(
        'SELECT member_id FROM feed_heads ORDER BY member_id FOR UPDATE SKIP LOCKED',
      );
      t.same(free.rows, [{ member_id: third }]);
    },
  );
  t.same(locked, ids);
});

t.test('commands that name the same members in opposite orders do not deadlock', async (t) => {
  const service = await startService(t, { GROUP_COMMIT: 'off' });
  const ids: string[] = [];
  for (const digit of ['0', '1', '2', '3']) ids.push((await createMember(service, digit)).agent.id);
  const command = (lock: readonly string[]): Plan<number> => ({
    lock,
    load: null,
    decide: ({ locked }) => ({ unchanged: locked.length }),
  });
  const locked = await Promise.all(
    // One attempt: a command that is chosen to end a deadlock would fail.
    Array.from({ length: 200 }, (_, index) =>
      service.core.store.execute(command(index % 2 ? ids : ids.toReversed()), { attempts: 1 }),
    ),
  );
  t.same([...new Set(locked)], [ids.length]);
});

t.test('a command that finds its members shares no transaction', async (t) => {
  const service = await startService(t, { GROUP_COMMIT: 'on' });
  const { id } = (await createMember(service, '0')).agent;
  const find = sql<{ member_id: string }>`SELECT ${id}::uuid AS member_id`;
  const transactions: (string | undefined)[] = [];
  const locks: (readonly string[])[] = [];
  const commands = [{ find }, { lock: [id] }, {}, {}].map((members, index) =>
    definePlan({
      ...(members as Pick<Plan<null>, 'find' | 'lock'>),
      load: sql<{ xid: string }>`SELECT pg_current_xact_id()::text AS xid`,
      decide({ rows, locked }) {
        transactions[index] = rows[0]?.xid;
        locks[index] = locked;
        return { unchanged: null };
      },
    }),
  );
  // On a busy machine the others may come too late for one transaction, but not each time.
  let together = false;
  for (let round = 0; round < 10 && !together; round++) {
    await Promise.all(commands.map((command) => service.core.store.execute(command)));
    t.same(locks, [[id], [id], [], []]);
    const [own, ...shared] = transactions;
    t.notOk(shared.includes(own));
    together = new Set(shared).size === 1;
  }
  t.ok(together, 'the others share a transaction');
});
