import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Registry } from 'prom-client';
import t, { type Test } from 'tap';
import { createBackup } from '../../cli/backup/create.ts';
import { newAgent } from '../../harness/agent.ts';
import { newCase } from '../../harness/cases.ts';
import { submit } from '../../harness/moderation.ts';
import { newKey } from '../../harness/registration.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { eraseStreams } from '../../platform/eventstore/erasure.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { createLogWatch } from '../../platform/eventstore/log-watch.ts';
import { createLogFollower, settledPosition } from '../../platform/eventstore/subscription.ts';
import { parseServerKeys } from '../../platform/keys/server-keys.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { runTogether } from '../../platform/postgres/query.ts';
import { clusterMetrics } from '../../services/database-metrics.ts';
import { grantRoles } from '../../services/database-roles.ts';
import { sweepRateCounters } from '../../workers/limits/sweep-rate-counters.ts';
import { asRole, testDatabase } from '../support/database.ts';
import { imitateCluster } from '../support/imitated-cluster.ts';
import { sealAll } from '../support/sealed.ts';
import { startService } from '../support/service.ts';
import { startSuiteDatabase } from '../support/suite-database.ts';

// A follower waits for the transactions of every database on its server, so this file starts another one.
const server = await startSuiteDatabase(undefined);
process.env.TEST_DATABASE_URL = server.url;
t.teardown(server.stop);

const DISTRIBUTED = { distributed: true };

async function clusterDatabase(t: Test) {
  const database = await testDatabase(t);
  await withConnection(database.url, async (client) => {
    if (process.env.TEST_LAYOUT !== 'cluster') await imitateCluster(client);
    await grantRoles(client);
  });
  return database;
}

async function clusterPool(t: Test) {
  const database = await clusterDatabase(t);
  const pool = createPool(database.url, 'service test', 2);
  t.teardown(() => pool.end());
  return { ...database, pool };
}

const INSERT = `INSERT INTO events
  (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at, position)
  OVERRIDING SYSTEM VALUE
  VALUES ($1::uuid, 'one-' || $1::uuid, 1, $2, 'One', '{}', '{"type":"service"}', now(), $3)`;

/**
 * A command whose events another node has prepared and not yet committed: its transaction has drawn a position and ended
 * here, and left a row in the catalogue until the other node has confirmed.
 */
async function commitInTwoPhases(pool: pg.Pool) {
  const client = await pool.connect();
  try {
    await client.query(`BEGIN; INSERT INTO pg_dist_transaction VALUES ('one')`);
    const { rows } = await client.query(`SELECT nextval('events_position_seq')::int AS position`);
    await client.query('COMMIT');
    const { position } = rows[0];
    return {
      position,
      arrive: () => pool.query(INSERT, [randomUUID(), randomUUID(), position]),
      confirm: () => pool.query('DELETE FROM pg_dist_transaction'),
    };
  } finally {
    client.release();
  }
}

async function insertEvent(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(`SELECT nextval('events_position_seq')::int AS position`);
  await pool.query(INSERT, [randomUUID(), randomUUID(), rows[0].position]);
  return rows[0].position;
}

t.test(
  'marks each commit, and updates every read model with statements of one owner',
  async (t) => {
    const service = await startService(t, {}, await clusterDatabase(t));
    const agents = await Promise.all(Array.from({ length: 8 }, () => newAgent(service)));
    const opened = await Promise.all(
      agents.flatMap((agent) =>
        [1, 2, 3].map(() => agent.call('POST', '/api/v1/cases', newCase())),
      ),
    );
    t.ok(opened.every(({ status }) => status === 201));
    const { rows } = await service.database.pool.query(
      `SELECT count(*)::int AS marks, count(event_id)::int AS known, (SELECT count(*)::int FROM events) AS events
     FROM write_marks LEFT JOIN events ON event_id = id`,
    );
    const [{ marks, known, events }] = rows;
    // With group commit, several commands share one.
    t.ok(marks > 0 && marks <= events, `${marks} commits of ${events} events`);
    t.ok(known > 0);
    for (const agent of agents) {
      const { body } = await agent.call('GET', '/api/v1/updates?limit=100');
      const sequences = body.events.map(({ sequence }: { sequence: number }) => sequence);
      t.same(
        sequences,
        sequences.map((_: number, at: number) => at + 1),
        'a feed has no gap',
      );
    }
  },
);

t.test('follows an event that another node commits later than this one', async (t) => {
  const { pool } = await clusterPool(t);
  const follower = createLogFollower(pool);
  const positions = async () => (await follower.read()).map(({ position }) => position);
  await positions();
  const late = await commitInTwoPhases(pool);
  const early = await insertEvent(pool);
  t.same(await positions(), [early]);
  t.same(await positions(), []);
  t.equal(follower.settled(), late.position - 1, 'it waits for the event');
  await late.arrive();
  await late.confirm();
  t.same(await positions(), [late.position]);
  t.equal(follower.settled(), early);
});

t.test('gives a position up once no node can commit it any more', async (t) => {
  const { pool } = await clusterPool(t);
  const follower = createLogFollower(pool);
  await follower.read();
  const rolledBack = await commitInTwoPhases(pool);
  const early = await insertEvent(pool);
  await follower.read();
  t.equal(follower.settled(), rolledBack.position - 1);
  await rolledBack.confirm();
  await follower.read();
  t.equal(follower.settled(), early);
});

t.test('settles a position only when every node has confirmed it', async (t) => {
  const { pool } = await clusterPool(t);
  const late = await commitInTwoPhases(pool);
  const early = await insertEvent(pool);
  let settled: number | undefined;
  const waiting = settledPosition(pool).then((position) => {
    settled = position;
  });
  for (let turn = 0; turn < 5; turn++) {
    await sleep(20);
    t.equal(settled, undefined);
  }
  await late.arrive();
  await late.confirm();
  await waiting;
  t.equal(settled, early);
});

t.test('takes a mark for the proof that an acknowledged event exists', async (t) => {
  const { pool } = await clusterPool(t);
  let lines = 0;
  const watch = createLogWatch(() => {
    lines++;
  });
  const event_id = randomUUID();
  const event = (recorded_at: Date) =>
    ({
      owner_id: randomUUID(),
      stream_id: 'one',
      stream_version: 1,
      event_id,
      recorded_at,
    }) as RecordedEvent;
  await pool.query('INSERT INTO write_marks VALUES ($1, now())', [event_id]);
  watch.acknowledged([event(new Date())], DISTRIBUTED);
  await watch.check(pool);
  t.notOk(watch.isLost(), 'the event is not visible yet');
  await pool.query('DELETE FROM write_marks');
  await watch.check(pool);
  t.ok(watch.isLost());
  t.equal(lines, 1);

  const later = createLogWatch(() => undefined);
  await pool.query('INSERT INTO write_marks VALUES ($1, now())', [event_id]);
  later.acknowledged([event(new Date(Date.now() - 3 * 3_600_000))], DISTRIBUTED);
  await later.check(pool);
  t.ok(later.isLost(), 'after hours the event itself is asked for, because marks are swept');
});

t.test('sweeps marks that are older than two hours', async (t) => {
  const { pool } = await clusterPool(t);
  const [old, young] = [randomUUID(), randomUUID()];
  await pool.query(
    `INSERT INTO write_marks VALUES ($1, now() - interval '121 minutes'), ($2, now() - interval '119 minutes')`,
    [old, young],
  );
  t.equal(await sweepRateCounters({ pool, config: { retentionAddressKeysHours: 48 } }), 1);
  t.same((await pool.query('SELECT id FROM write_marks')).rows, [{ id: young }]);
});

t.test('erases the salts of words without a trigger on the log', async (t) => {
  const service = await startService(t, { SEAL_KEY: '5a'.repeat(32) }, await clusterDatabase(t));
  await service.tamper('SELECT 1');
  const note = await submit(service);
  await sealAll(service);
  const salts = async () => {
    const { rows } = await service.database.pool.query(
      `SELECT count(*)::int AS words, count(words_salt)::int AS salts FROM events JOIN seal_leaves USING (position)
       WHERE stream_id = $1 AND words_commitment IS NOT NULL`,
      [`note-${note.id}`],
    );
    return rows[0];
  };
  t.same(await salts(), { words: 1, salts: 1 });
  await runTogether(
    service.core.pool,
    eraseStreams({ kind: 'guest_note', id: note.id }, [`note-${note.id}`]),
  );
  t.same(await salts(), { words: 1, salts: 0 });
});

t.test('measures how long the same commit has waited for another node', async (t) => {
  const { pool } = await clusterPool(t);
  const registry = new Registry();
  let now = 0;
  clusterMetrics(registry, pool, () => now);
  const seconds = async () => {
    now += 30_000;
    const [line = ''] = (await registry.metrics()).match(/^unconfirmed_commit_seconds \S+/m) ?? [];
    return line.split(' ')[1];
  };
  t.equal(await seconds(), undefined, 'none waits');
  const first = await commitInTwoPhases(pool);
  t.equal(await seconds(), '0', 'the first scrape that sees it');
  t.equal(await seconds(), '30');
  await first.confirm();
  const second = await commitInTwoPhases(pool);
  t.equal(await seconds(), '0', 'another one waits');
  await second.confirm();
  t.equal(await seconds(), undefined, 'all are confirmed');
});

t.test('makes a backup of a cluster as the owner alone, and says so', async (t) => {
  const { url } = await clusterDatabase(t);
  const folder = temporaryFolder('cluster-backup');
  t.teardown(folder.remove);
  const keys = parseServerKeys(`1:${newKey()}`) ?? [];
  const make = (address: string, name: string) =>
    createBackup(address, join(folder.path, name), keys, 'correct horse battery');
  await t.rejects(make(asRole(url, 'service'), 'as-service'), {
    message: /^A backup of a cluster locks the log .* which only the owner of the tables may do$/,
  });
  t.match(await make(url, 'as-owner'), { events: 0 });
});
