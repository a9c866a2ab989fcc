import pg from 'pg';
import t from 'tap';
import { definePlan } from '../../platform/eventstore/plan.ts';
import { PLANNER_SETTINGS, withConnection } from '../../platform/postgres/connection.ts';
import { setPlannerSettings } from '../../platform/postgres/database-settings.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { sql } from '../../platform/sql.ts';
import { createBareStore } from '../support/bare-store.ts';
import { testDatabase } from '../support/database.ts';
import { whileWaitingForLock } from '../support/meanwhile.ts';

type Ending = Parameters<typeof testDatabase>[0];

const SHOW = `SELECT ${Object.keys(PLANNER_SETTINGS)
  .map((name) => `current_setting('${name}') AS ${name}`)
  .join(', ')}`;

/** The settings of a connection that sets nothing, as a pooler may open it. */
async function ofConnection(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(SHOW)).rows[0];
  } finally {
    await client.end();
  }
}

async function ofPool(t: Ending, url: string) {
  const pool = createPool(url, 'service test', 1);
  t.teardown(() => pool.end());
  return (await pool.query(SHOW)).rows[0];
}

t.test('a release sets how the role plans its statements', async (t) => {
  const { url } = await testDatabase(t);
  t.equal(
    (await ofConnection(url)).plan_cache_mode,
    'auto',
    'a copy of a database has no settings',
  );
  t.same(await ofPool(t, url), PLANNER_SETTINGS, 'a pool sets what the role lacks');
  await withConnection(url, setPlannerSettings);
  t.same(await ofConnection(url), PLANNER_SETTINGS);
});

t.test('a setting that the role has stays', async (t) => {
  const { pool, url } = await testDatabase(t);
  const database = new URL(url).pathname.slice(1);
  await pool.query(`ALTER ROLE CURRENT_USER IN DATABASE ${database} SET plan_cache_mode = 'auto'`);
  await withConnection(url, setPlannerSettings);
  const expected = { ...PLANNER_SETTINGS, plan_cache_mode: 'auto' };
  t.same(await ofConnection(url), expected);
  t.same(await ofPool(t, url), expected);
});

t.test('a command of an operator plans by the values of its statements', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, setPlannerSettings);
  const settings = await withConnection(url, async (client) => (await client.query(SHOW)).rows[0]);
  t.match(settings, { plan_cache_mode: 'auto', enable_seqscan: 'on' });
});

t.test(
  'a command reads after it has its locks, also with another level of isolation',
  async (t) => {
    const { pool, url } = await testDatabase(t);
    const database = new URL(url).pathname.slice(1);
    await pool.query(
      `ALTER ROLE CURRENT_USER IN DATABASE ${database} SET default_transaction_isolation = 'repeatable read'`,
    );
    await pool.query(
      'CREATE TABLE doors (); INSERT INTO doors DEFAULT VALUES; CREATE TABLE guests ()',
    );
    const ofRole = createPool(url, 'service test', 1);
    t.teardown(() => ofRole.end());
    const { execute } = createBareStore(ofRole, url);
    const count = definePlan({
      load: {
        door: sql`SELECT FROM doors FOR UPDATE`,
        guests: sql<{ count: number }>`SELECT count(*)::int FROM guests`,
      },
      decide: ({ rows: { guests } }) => ({ unchanged: guests[0]?.count }),
    });

    const counted = await whileWaitingForLock(
      pool,
      'SELECT FROM doors FOR UPDATE',
      () => execute(count),
      () => pool.query('INSERT INTO guests DEFAULT VALUES'),
    );

    t.equal(counted, 1);
  },
);
