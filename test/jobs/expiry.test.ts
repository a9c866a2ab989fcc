import { randomUUID } from 'node:crypto';
import t from 'tap';
import { memberOwner } from '../../domain/owners.ts';
import { createEventStore } from '../../platform/eventstore/event-store.ts';
import { jobSender } from '../../platform/jobs/boss.ts';
import { keyRing } from '../../platform/keys/key-ring.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import type { sql } from '../../platform/sql.ts';
import { mayOwn } from '../../projections/stream-owners.ts';
import { affectedMembers, catalogue, jobTypes, project } from '../../services/features.ts';
import { insertSession } from '../../services/membership/sessions.ts';
import { expireCredentials } from '../../workers/credentials/expire-credentials.ts';
import { sweepRateCounters } from '../../workers/limits/sweep-rate-counters.ts';
import { expireSessions } from '../../workers/membership/expire-sessions.ts';
import { dailySchedule, listSchedules } from '../../workers/running/job.ts';
import { testDatabase } from '../support/database.ts';

const HOUR = 3_600_000;
const keys = keyRing([{ id: 1, secret: Buffer.alloc(32, 7) }]);
const past = () => new Date(Date.now() - HOUR);
const future = () => new Date(Date.now() + HOUR);

async function createSetting(t: Parameters<typeof testDatabase>[0]) {
  const { url } = await testDatabase(t);
  const jobs = jobSender(url, jobTypes);
  await jobs.start();
  const pool = createPool(url, 'test', 8);
  const store = createEventStore({
    pool,
    url,
    catalogue,
    project,
    affectedMembers,
    mayOwn,
    enqueue: jobs.enqueue,
  });
  t.teardown(async () => {
    await jobs.close();
    await pool.end();
  });

  const append = (
    owner: string,
    stream: string,
    event: { type: string; data: object; personal: object | null },
    rows: ReturnType<typeof sql>[] = [],
    lock: string[] = [owner],
  ) =>
    store.execute({
      lock,
      load: null,
      decide: () => ({
        answer: null,
        appends: [
          {
            owner: memberOwner(owner),
            stream,
            version: 0,
            actor: { type: 'member', id: owner },
            events: [event as never],
          },
        ],
        rows,
      }),
    });

  async function member() {
    const id = randomUUID();
    const data = { handle_hash: id, handle_key_id: 1 };
    await append(id, `member-${id}`, { type: 'MemberRegistered', data, personal: { handle: id } });
    return id;
  }
  async function session(owner: string, end: Date) {
    const id = randomUUID();
    const data = { session_id: id, expires_at: end.toISOString() };
    const verifier = { key_id: 1, hash: '00' };
    await append(owner, `session-${id}`, { type: 'SessionStarted', data, personal: null }, [
      insertSession(id, owner, 1, verifier, past(), end),
    ]);
    return id;
  }
  async function credential(owner: string, end: Date) {
    const id = randomUUID();
    const expires_at = end.toISOString();
    const data = { credential_id: id, scopes: [], expires_at, key_epoch: 1, replaces: null };
    await append(owner, `credential-${id}`, { type: 'CredentialCreated', data, personal: null });
    return id;
  }
  const events = async (type: string) =>
    (
      await pool.query(
        `SELECT stream_id, stream_version, actor, data FROM events WHERE type = $1`,
        [type],
      )
    ).rows;
  return { store, pool, url, jobs, member, session, credential, events };
}

t.test('records one event per expired session and none for a live one', async (t) => {
  const { store, pool, member, session, events } = await createSetting(t);
  const owner = await member();
  const over = await session(owner, past());
  await session(owner, future());
  t.equal(await expireSessions({ store }), 1);
  t.equal(await expireSessions({ store }), 0, 'a second sweep finds nothing');
  t.strictSame(await events('SessionEnded'), [
    {
      stream_id: `session-${over}`,
      stream_version: 2,
      actor: { type: 'service' },
      data: { session_id: over, reason: 'expired' },
    },
  ]);
  const open = await pool.query('SELECT 1 FROM sessions WHERE ended_at IS NULL');
  t.equal(open.rowCount, 1);
});

t.test('records one event per expired credential and none for a live one', async (t) => {
  const { store, pool, member, credential, events } = await createSetting(t);
  const owner = await member();
  const over = await credential(owner, past());
  await credential(owner, future());
  t.equal(await expireCredentials({ store, keys }), 1);
  t.equal(await expireCredentials({ store, keys }), 0, 'a second sweep finds nothing');
  t.strictSame(await events('CredentialExpired'), [
    {
      stream_id: `credential-${over}`,
      stream_version: 2,
      actor: { type: 'service' },
      data: { credential_id: over },
    },
  ]);
  const states = await pool.query('SELECT state FROM credentials ORDER BY expires_at');
  t.strictSame(states.rows, [{ state: 'expired' }, { state: 'active' }]);
});

t.test('records each expiry once in concurrent sweeps', async (t) => {
  const { store, member, session, credential, events } = await createSetting(t);
  for (let i = 0; i < 3; i++) {
    const owner = await member();
    for (let j = 0; j < 4; j++) {
      await session(owner, past());
      await credential(owner, past());
    }
  }
  const sessions = await Promise.all([expireSessions({ store }), expireSessions({ store })]);
  t.equal(sessions[0] + sessions[1], 12);
  t.equal((await events('SessionEnded')).length, 12);
  const ended = await Promise.all([
    expireCredentials({ store, keys }),
    expireCredentials({ store, keys }),
  ]);
  t.equal(ended[0] + ended[1], 12);
  t.equal((await events('CredentialExpired')).length, 12);
});

t.test('deletes rate counters after their retention, but never within a day', async (t) => {
  const { pool } = await createSetting(t);
  await pool.query(`INSERT INTO rate_counters
    SELECT 'k', n::text, clock_timestamp() - interval '49 hours', 1 FROM generate_series(1, 1001) n
    UNION ALL SELECT 'k', 'day', clock_timestamp() - interval '30 hours', 1
    UNION ALL SELECT 'k', 'live', clock_timestamp() - interval '20 hours', 1`);
  t.equal(await sweepRateCounters({ pool, config: { retentionAddressKeysHours: 48 } }), 1001);
  t.equal(await sweepRateCounters({ pool, config: { retentionAddressKeysHours: 1 } }), 1);
  t.strictSame((await pool.query('SELECT bucket FROM rate_counters')).rows, [{ bucket: 'live' }]);
});

t.test('deletes the addresses of reporters after their retention', async (t) => {
  const { pool } = await createSetting(t);
  await pool.query(`INSERT INTO report_addresses
    SELECT gen_random_uuid(), bucket, clock_timestamp() - hours * interval '1 hour'
    FROM (VALUES ('over', 49), ('live', 47)) v (bucket, hours)`);
  t.equal(await sweepRateCounters({ pool, config: { retentionAddressKeysHours: 48 } }), 1);
  const { rows } = await pool.query('SELECT bucket FROM report_addresses');
  t.strictSame(rows, [{ bucket: 'live' }]);
});

t.test('enqueues a job in the transaction of its statement', async (t) => {
  const { pool, jobs } = await createSetting(t);
  const statement = await jobs.enqueue({ queue: 'expire-sessions', data: {}, startAfter: 60 });
  const count = async () =>
    (
      await pool.query(`SELECT start_after > now() + interval '50 s' AS later, retry_limit, dead_letter
      FROM pgboss.job WHERE name = 'expire-sessions'`)
    ).rows;
  const client = await pool.connect();
  await client.query('BEGIN');
  await client.query(statement);
  await client.query('ROLLBACK');
  t.strictSame(await count(), []);
  await client.query(statement);
  client.release();
  t.strictSame(await count(), [{ later: true, retry_limit: 2, dead_letter: 'dead-letters' }]);
});

t.test('schedules jobs to fill the minute', async (t) => {
  t.strictSame(
    listSchedules(30).map(({ startAfter }) => startAfter),
    [0, 30],
  );
  t.throws(() => listSchedules(45));
  t.equal(dailySchedule('02:05').cron, '5 2 * * *');
});
