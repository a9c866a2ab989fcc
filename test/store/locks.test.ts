import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createOpenCase, listCases } from '../../harness/cases.ts';
import { type Command, defineCommand } from '../../platform/eventstore/event-store.ts';
import { sql } from '../../platform/sql.ts';
import { livingMembersOfCase, membersOfCase } from '../../projections/cases/case-members.ts';
import { meanwhile } from '../support/meanwhile.ts';
import { type Service, startService } from '../support/service.ts';

/** Creates a member whose id begins with `digit`, so that the order of ids is known. */
const createMember = async (service: Service, digit: string) =>
  listCases(await newAgent(service, undefined, { id: digit + randomUUID().slice(1) }));

const lockOf = (id: string) => `SELECT FROM feed_heads WHERE member_id = '${id}' FOR UPDATE`;

t.test('retries a command whose find missed a member, and then locks that member', async (t) => {
  const service = await startService(t);
  const ann = await createMember(service, '0');
  const bob = await createMember(service, '1');
  const author = await createMember(service, '2');
  const caseId = await createOpenCase(author);
  const noteId = randomUUID();
  const locks: (readonly string[])[] = [];
  const command = defineCommand({
    lock: [ann.agent.id],
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
            owner: ann.agent.id,
            stream: `case-note-${noteId}`,
            version: 0,
            actor: { type: 'member' as const, id: ann.agent.id },
            events: [{ type: 'CaseNoted', data, personal: { message: 'A word' } }],
          },
        ],
      };
    },
  });
  await meanwhile(
    service.database.pool,
    lockOf(ann.agent.id),
    () => service.core.store.execute(command),
    async () => t.equal((await bob.note(caseId)).status, 201),
  );
  t.same(locks, [
    [ann.agent.id, author.agent.id],
    [ann.agent.id, bob.agent.id, author.agent.id],
  ]);
  const { rows } = await service.database.pool.query(
    `SELECT count(*)::int AS notes FROM feed WHERE member_id = $1 AND type = 'case.noted'`,
    [bob.agent.id],
  );
  t.same(rows, [{ notes: 2 }], 'the member whom the first find missed is notified');
});

t.test('locks each member once, in the order of their ids', async (t) => {
  const service = await startService(t);
  const ids: string[] = [];
  for (const digit of ['0', '1', '2']) ids.push((await createMember(service, digit)).agent.id);
  const [first = '', second = '', third = ''] = ids;
  const command: Command<readonly string[]> = {
    lock: [third, first],
    find: [
      sql`SELECT NULL::uuid AS member_id`,
      sql`SELECT member_id FROM members WHERE member_id = ANY(${ids}::uuid[])`,
    ],
    load: null,
    decide: ({ locked }) => ({ unchanged: locked }),
  };
  const locked = await meanwhile(
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
  const command = (lock: readonly string[]): Command<number> => ({
    lock,
    load: null,
    decide: ({ locked }) => ({ unchanged: locked.length }),
  });
  const locked = await Promise.all(
    // One attempt: a command that is chosen to end a deadlock would fail.
    Array.from({ length: 200 }, (_, index) =>
      service.core.store.execute(command(index % 2 ? ids : ids.toReversed()), 1),
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
    defineCommand({
      ...(members as Pick<Command<null>, 'find' | 'lock'>),
      load: sql<{ xid: string }>`SELECT pg_current_xact_id()::text AS xid`,
      decide({ rows, locked }) {
        transactions[index] = rows[0]?.xid;
        locks[index] = locked;
        return { unchanged: null };
      },
    }),
  );
  await Promise.all(commands.map((command) => service.core.store.execute(command)));
  t.same(locks, [[id], [id], [], []]);
  const [own, ...shared] = transactions;
  t.notOk(shared.includes(own));
  t.equal(new Set(shared).size, 1);
});
