import pg from 'pg';
import t from 'tap';
import { PLANNER_SETTINGS, withConnection } from '../../platform/postgres/connection.ts';
import { setPlannerSettings } from '../../platform/postgres/database-settings.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { testDatabase } from '../support/database.ts';

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
