import t from 'tap';
import { assertRebuilt } from '../../harness/rebuilt.ts';
import { testDatabase } from '../support/database.ts';
import { recordRun } from '../support/recorded-run.ts';

/** Settings that change how PostgreSQL writes values, compares or plans, with values that a server may have. */
const UNUSUAL: Readonly<Record<string, string>> = {
  TimeZone: 'Asia/Kolkata',
  DateStyle: 'ISO, DMY',
  IntervalStyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  transform_null_equals: 'on',
  backslash_quote: 'off',
  client_min_messages: 'debug1',
  default_transaction_deferrable: 'on',
  default_statistics_target: '1',
  work_mem: '64kB',
  max_parallel_workers_per_gather: '4',
  min_parallel_table_scan_size: '0',
  parallel_setup_cost: '0',
  parallel_tuple_cost: '0',
  from_collapse_limit: '1',
  join_collapse_limit: '1',
  enable_hashagg: 'off',
  enable_hashjoin: 'off',
};

t.test('every operation and job works on a database with unusual settings', async (t) => {
  const database = await testDatabase(t);
  const name = new URL(database.url).pathname.slice(1);
  for (const [setting, value] of Object.entries(UNUSUAL))
    await database.pool.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  const { service } = await recordRun(t, async () => undefined, {}, database);
  const { rows } = await service.core.pool.query('SHOW IntervalStyle');
  t.same(rows, [{ IntervalStyle: 'sql_standard' }]);
  await assertRebuilt(database.pool);
});
