import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import t, { type Test } from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { writeHistory } from '../../harness/history.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { newKey } from '../../harness/registration.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { MIGRATIONS, migrate, readMigrations } from '../../platform/postgres/migrate.ts';
import { grantRoles } from '../../services/database-roles.ts';
import {
  OWNED_TABLES,
  PARTITIONS,
  partitionedTables,
  partitionTables,
} from '../../services/partitions.ts';
import { asRole, testDatabase } from '../support/database.ts';
import { imitateCluster } from '../support/imitated-cluster.ts';
import { holdIndexes } from '../support/meanwhile.ts';
import { dumpSchema } from '../support/schema-dump.ts';
import { startService } from '../support/service.ts';

const NAMES = Object.keys(OWNED_TABLES);
const { TEST_LAYOUT } = process.env;
const PARTITIONED = TEST_LAYOUT !== undefined;
const CLUSTER = TEST_LAYOUT === 'cluster';
if (PARTITIONED)
  console.error(`SKIPPED: conversions of plain tables; TEST_LAYOUT is ${TEST_LAYOUT}`);

/** Runs a command; `stderr` is called with each part of its messages. */
async function run(url: string, args: string[], stderr: (said: string) => void = () => undefined) {
  const child = spawn(process.execPath, args, {
    env: { ...INHERITED_ENV, DATABASE_URL: url, SERVER_KEYS: `1:${newKey()}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    said += part;
    stderr(said);
  });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { code, stdout, stderr: said };
}

const RELEASE = ['services/release.ts'];
const PARTITION = [...RELEASE, '--partition'];

/** All rows of the four tables, each as text, in a fixed order. */
async function rowsOf(pool: pg.Pool): Promise<Record<string, string[]>> {
  const rows = NAMES.map(async (name) => {
    const found = await pool.query<{ row: string }>(
      `SELECT to_jsonb(t)::text AS row FROM ${name} t ORDER BY 1`,
    );
    return [name, found.rows.map(({ row }) => row)] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

/** The schema without what partitioning adds to it. */
const plainSchema = async (pool: pg.Pool): Promise<string> =>
  (await dumpSchema(pool))
    .split('\n\n')
    .filter((part) => !/^(?:TABLE|PARTITIONED TABLE) \w+_p\d+(?: |\n|$)/.test(part))
    .map((part) =>
      part
        .replace(/^PARTITIONED TABLE /, 'TABLE ')
        .replace(/^(TABLE \w+)(.*) PARTITION BY HASH \(\w+\)/, '$1$2')
        .replaceAll(' ON ONLY ', ' ON ')
        .replaceAll(/(?<=ACL \{)[^}]+/g, (grants) => grants.split(',').sort().join())
        // The rows are checked when they are copied.
        .replaceAll(' NOT VALID', '')
        .replaceAll(/^ {2}ROW .*\n?/gm, '')
        .trimEnd(),
    )
    .sort()
    .join('\n\n');

const partitionsOf = async (pool: pg.Pool): Promise<string[]> => {
  const { rows } = await pool.query<{ table: string }>(
    `SELECT inhparent::regclass::text || ' ' || count(*) AS table FROM pg_inherits JOIN pg_class c ON c.oid = inhparent
     WHERE relkind = 'p' AND relname = ANY($1) GROUP BY inhparent ORDER BY 1`,
    [NAMES],
  );
  return rows.map(({ table }) => table);
};

/** A database with a history, and the service on it. */
async function startUsed(t: Test) {
  const service = await startService(t);
  const { database } = service;
  await withConnection(database.url, (client) => writeHistory(client, { members: 20, notes: 3 }));
  // The history has no read models yet.
  t.equal((await run(database.url, ['cli/rebuild.ts'])).code, 0);
  const ann = await addModerator(service, 'Ann');
  const { id } = await submit(service);
  await decide(ann, id, 'approve');
  const member = await newAgent(service);
  return { ...service, member };
}

t.test(
  'a used database is partitioned, and rows, rights, triggers and positions stay as they were',
  { skip: PARTITIONED },
  async (t) => {
    const { call, database, member } = await startUsed(t);
    const { pool, url } = database;
    const before = { rows: await rowsOf(pool), schema: await plainSchema(pool) };
    const { rows: last } = await pool.query('SELECT max(position) AS position FROM events');

    const said = await run(url, PARTITION);
    t.match(said, {
      code: 0,
      stdout: /^Divided events, receipts, feed, feed_heads by owner, into 8/m,
    });
    t.match(said.stderr, /^Copying events \(\d+ [kM]B\)$/m);
    t.same(await partitionsOf(pool), ['events 8', 'feed 8', 'feed_heads 8', 'receipts 8']);
    t.same(await rowsOf(pool), before.rows);
    t.equal(await plainSchema(pool), before.schema);
    const { rows: analysed } = await pool.query(
      `SELECT relname FROM pg_class WHERE relname = ANY($1) AND reltuples < 0`,
      [NAMES],
    );
    t.same(analysed, [], 'the tables have statistics');

    // The service that ran meanwhile goes on, and positions follow the last one.
    t.equal((await member.call('GET', '/api/v1/me')).status, 200);
    const again = await newAgent({ call });
    t.equal((await again.call('GET', '/api/v1/updates')).status, 200);
    const { rows: next } = await pool.query(
      'SELECT min(position) AS position FROM events WHERE position > $1',
      [last[0].position],
    );
    t.equal(Number(next[0].position), Number(last[0].position) + 1);

    for (const table of ['events', 'events_p0']) {
      const update = `UPDATE ${table} SET owner_id = owner_id`;
      await t.rejects(pool.query(update), /never|not|only|append/i, update);
    }
    for (const table of ['events', 'events_p0', 'receipts'])
      await t.rejects(pool.query(`DELETE FROM ${table}`), /never|not|only|append/i, table);
    for (const table of ['events', 'events_p0', 'receipts', 'receipts_p0'])
      await t.rejects(pool.query(`TRUNCATE ${table}`), /never|not|only|append/i, table);
    const service = new pg.Client(asRole(url, 'service'));
    await service.connect();
    t.teardown(() => service.end());
    for (const table of ['events', 'events_p0'])
      await t.rejects(service.query(`DELETE FROM ${table}`), { code: '42501' }, table);

    const rebuilt = await run(url, ['cli/rebuild.ts']);
    t.match(rebuilt, { code: 0, stdout: /^Rebuilt every read model/ });
    t.same(
      await partitionsOf(pool),
      ['events 8', 'feed 8', 'feed_heads 8', 'receipts 8'],
      'a rebuild keeps the partitions',
    );
    t.equal(await plainSchema(pool), before.schema);
    const live = await run(url, ['cli/verify.ts', '--live']);
    t.equal(live.code, 0, live.stderr);

    t.match(await run(url, PARTITION), { code: 0, stdout: /^The tables are partitioned$/m });
    t.match(await run(url, [...PARTITION, '--partitions', '4']), {
      code: 1,
      stderr: /^The table \w+ has 8 partitions, and their number cannot be changed to 4\n$/m,
    });
    t.match(await run(url, RELEASE), { code: 0, stderr: /^(?!Warning.*partition)/ });
  },
);

t.test(
  'refuses while something uses the tables, and changes nothing',
  { skip: CLUSTER },
  async (t) => {
    const { url, pool } = await testDatabase(t);
    const before = await dumpSchema(pool);
    const refused = async (expected: RegExp) => {
      t.match(await run(url, PARTITION), {
        code: PARTITIONED ? 0 : 1,
        stderr: PARTITIONED ? '' : expected,
      });
      t.equal(await dumpSchema(pool), before);
    };
    const process = new pg.Client({ connectionString: url, application_name: 'worker' });
    await process.connect();
    await refused(/but worker connected: stop all processes$/m);
    await process.end();
    await withConnection(url, async (client) => {
      await client.query('BEGIN; LOCK TABLE feed IN ACCESS SHARE MODE');
      await refused(/^Another transaction, such as that of a backup, uses the tables/m);
      await client.query('ROLLBACK');
    });
    for (const [args, message] of [
      [['--partition', '--partitions', '1'], '--partitions takes a number from 2 to 64.'],
      [['--partition', '--partitions', '8.5'], '--partitions takes a number from 2 to 64.'],
      [['--partitions', '4'], '--partitions needs --partition.'],
    ] as const) {
      const { code, stderr } = await run(url, [...RELEASE, ...args]);
      t.equal(code, 2);
      t.ok(stderr.startsWith(`${message}\nUsage:`), stderr);
    }
    t.equal(await dumpSchema(pool), before);
  },
);

t.test(
  'a partitioning that is killed leaves the tables as they were, and can be done again',
  { skip: PARTITIONED },
  async (t) => {
    const { url, pool } = await testDatabase(t);
    const before = await dumpSchema(pool);
    // The rows are copied then.
    const held = await holdIndexes(pool);
    const child = spawn(process.execPath, PARTITION, {
      env: { ...INHERITED_ENV, DATABASE_URL: url, SERVER_KEYS: `1:${newKey()}` },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await held.untilHeld();
    child.kill('SIGKILL');
    t.same(await ended, [null, 'SIGKILL']);
    await held.release();
    // Waits for the end of the transaction, which has locked the table.
    await pool.query('SELECT FROM receipts');
    t.equal(await dumpSchema(pool), before);
    t.equal((await run(url, [...PARTITION, '--partitions', '3'])).code, 0);
    t.same(await partitionsOf(pool), ['events 3', 'feed 3', 'feed_heads 3', 'receipts 3']);
    t.match(await run(url, ['cli/rebuild.ts']), { code: 0 });
    t.same(await partitionsOf(pool), ['events 3', 'feed 3', 'feed_heads 3', 'receipts 3']);
  },
);

t.test(
  'a table that is partitioned in another way is not rebuilt without its partitions',
  { skip: CLUSTER },
  async (t) => {
    const { url, pool } = await testDatabase(t);
    await pool.query(`DROP TABLE feed_heads;
    CREATE TABLE feed_heads (member_id uuid PRIMARY KEY, sequence bigint NOT NULL) PARTITION BY RANGE (member_id);
    CREATE TABLE feed_heads_all PARTITION OF feed_heads DEFAULT`);
    const stderr =
      /^The table feed_heads is partitioned in another way than npm run release -- --partition/m;
    t.match(await run(url, ['cli/rebuild.ts']), { code: 1, stderr });
    t.match(await run(url, PARTITION), { code: 1, stderr });
    t.equal((await pool.query('SELECT FROM feed_heads_all')).rowCount, 0);
  },
);

t.test(
  'every migration applies to tables that are partitioned already',
  { skip: CLUSTER },
  async (t) => {
    const { url, pool } = await testDatabase(t, { empty: true });
    const { path: folder, remove } = temporaryFolder('migrations');
    t.teardown(remove);
    const [first, ...others] = readMigrations();
    const add = ({ name }: { name: string }) =>
      copyFileSync(join(MIGRATIONS, `${name}.sql`), join(folder, `${name}.sql`));
    add(first as { name: string });
    await migrate(url, { folder });
    await withConnection(url, (client) => partitionTables(client, PARTITIONS));
    for (const other of others) add(other);
    t.equal((await migrate(url, { folder })).length, others.length);
    await withConnection(url, async (client) => {
      t.same(await partitionedTables(client), NAMES);
      await grantRoles(client);
    });
    // The same as if it was partitioned after all of them.
    const whole = await testDatabase(t);
    await withConnection(whole.url, (client) => partitionTables(client, PARTITIONS));
    t.equal(await plainSchema(pool), await plainSchema(whole.pool));
  },
);

t.test('refuses to partition tables that a cluster has distributed', async (t) => {
  const { url, pool } = await testDatabase(t);
  if (!CLUSTER) await withConnection(url, imitateCluster);
  const before = await dumpSchema(pool);
  t.match(await run(url, PARTITION), {
    code: 1,
    stderr:
      /^The tables are distributed over the nodes of a cluster: their shards are their parts$/m,
  });
  t.equal(await dumpSchema(pool), before);
});

t.test(
  'refuses to distribute where no cluster is, with the reason, and changes nothing',
  async (t) => {
    const { url, pool } = await testDatabase(t);
    const before = await dumpSchema(pool);
    const refused = await run(url, [...RELEASE, '--distribute']);
    t.match(refused, { code: 1, stderr: /extension citus is not installed in this database/ });
    t.equal(await dumpSchema(pool), before);
    for (const [args, reason] of [
      [['--distribute', '--partition'], /exclude each other/],
      [['--distribute', '--shards', '0'], /a number from 1 to 256/],
      [['--one-node'], /need --distribute/],
      [['--check', '--distribute'], /goes with no other option/],
    ] as const)
      t.match(await run(url, [...RELEASE, ...args]), { code: 2, stderr: reason });
  },
);
