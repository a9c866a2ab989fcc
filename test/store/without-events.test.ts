import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { moderatorOwner } from '../../domain/owners.ts';
import { wasCommitted } from '../../platform/eventstore/commit-status.ts';
import { definePlan, type Plan } from '../../platform/eventstore/plan.ts';
import { findReceipt, type Receipt, receiptStatement } from '../../platform/eventstore/receipts.ts';
import { createStandbyBarrier } from '../../platform/eventstore/standby-barrier.ts';
import { LostRace } from '../../platform/eventstore/transaction.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { deadline } from '../../platform/postgres/request-deadline.ts';
import { refuse } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { createBareStore } from '../support/bare-store.ts';
import { testDatabase } from '../support/database.ts';

/** A store with one connection, and a table that commands of the test write to. */
async function startStore(t: Test) {
  const { url, pool: direct } = await testDatabase(t);
  await direct.query('CREATE TABLE worked (at int)');
  const pool = createPool(url, 'test', 1);
  t.teardown(() => pool.end());
  const store = createBareStore(pool, url);
  const worked = async () => (await direct.query('SELECT FROM worked')).rowCount;
  return { store, url, direct, worked };
}

const work = sql<{ pid: number }>`INSERT INTO worked VALUES (1) RETURNING pg_backend_pid() AS pid`;

t.test('the writes of a load are committed with a decision that writes', async (t) => {
  const { store, worked } = await startStore(t);
  const decisions = [
    { decision: refuse('not_found'), rows: 0 },
    { decision: { unchanged: 'same' }, rows: 0 },
    { decision: { answer: 'made', appends: [] }, rows: 1 },
  ];
  for (const { decision, rows } of decisions) {
    const command: Plan<string, 'not_found'> = { load: work, decide: () => decision };
    await store.execute(command);
    t.equal(await worked(), rows, JSON.stringify(decision));
  }
});

t.test('a race that decide lost is decided again on the same connection', async (t) => {
  const { store, worked } = await startStore(t);
  const pids: number[] = [];
  const command = definePlan({
    load: work,
    decide({ rows }) {
      pids.push(...rows.map(({ pid }) => pid));
      if (pids.length < 3) throw new LostRace('lost');
      return { answer: 'made', appends: [] };
    },
  });
  t.equal(await store.execute(command), 'made');
  t.equal(pids.length, 3);
  t.equal(new Set(pids).size, 1, 'each attempt was rolled back');
  t.equal(await worked(), 1);
});

t.test(
  'a commit is proven by the receipt, where the transaction id may be used again',
  async (t) => {
    const { url, direct } = await startStore(t);
    const receipt: Receipt = {
      owner: moderatorOwner(randomUUID()),
      space: 'moderation',
      key: randomUUID(),
      operation: 'moderation.claim',
      route: 'POST /api/moderation/claims',
      bodyHash: '',
      bound: null,
      httpStatus: 200,
      reply: [],
      eventIds: [],
    };
    const now = new Date();
    const client = await direct.connect();
    const write = async (end: 'COMMIT' | 'ROLLBACK', writes: boolean): Promise<string> => {
      await client.query('BEGIN');
      const { rows } = await client.query('SELECT pg_current_xact_id()::text AS xid');
      if (writes) await client.query(receiptStatement(receipt, now));
      await client.query(end);
      return rows[0].xid;
    };
    const found = findReceipt(receipt, now);
    const barrier = createStandbyBarrier(url);
    const fate = (xid: string, witness: Sql | undefined = found) =>
      wasCommitted(url, { xid, witness, barrier }, deadline());

    t.equal(await fate(await write('ROLLBACK', true)), false);
    t.equal(await fate(await write('COMMIT', false)), false, 'another transaction has the id');
    const xid = await write('COMMIT', true);
    t.equal(await fate(xid), true);
    t.equal(await fate(xid, findReceipt(receipt, new Date(0))), false, 'the receipt is older');
    const unwitnessed = wasCommitted(url, { xid, witness: undefined, barrier }, deadline());
    t.equal(await unwitnessed, true, 'without a witness');
    client.release();
  },
);
