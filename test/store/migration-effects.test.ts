import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { withConnection } from '../../platform/postgres/connection.ts';
import { MIGRATIONS, migrate, readMigrations } from '../../platform/postgres/migrate.ts';
import { describeEffect, type MigrationEffects, planRelease } from '../../services/release-plan.ts';
import { testDatabase } from '../support/database.ts';
import { firstMigrations } from '../support/migration-folders.ts';

const RECORDED = join(MIGRATIONS, 'effects.json');

const TABLES = `SELECT oid, relname AS name, relfilenode AS file FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;
const INDEXES = `SELECT indexrelid AS oid, indrelid AS of FROM pg_index JOIN pg_class c ON c.oid = indrelid
  WHERE relnamespace = 'public'::regnamespace`;
const CHECKED = `SELECT oid, conrelid AS of FROM pg_constraint WHERE contype = 'c' AND convalidated AND conrelid <> 0`;
/** The tables of each view: to make it locks them as a read does, and reads no row. */
const VIEWED = `SELECT DISTINCT ev_class AS oid, refobjid AS of FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid
  WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass AND refobjid <> ev_class`;
const LOCKS = `SELECT relation AS of, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'`;

interface Table {
  oid: number;
  name: string;
  file: number;
}

interface Part {
  oid: number;
  of: number;
}

/** Applies a migration, and returns what it holds and has done to the tables before it, just before COMMIT. */
async function effectsOf(client: pg.ClientBase, text: string): Promise<MigrationEffects> {
  const ask = async <Row>(question: string) => (await client.query(question)).rows as Row[];
  const before = await ask<Table>(TABLES);
  const [indexes, checked, viewed] = [
    await ask<Part>(INDEXES),
    await ask<Part>(CHECKED),
    await ask<Part>(VIEWED),
  ];
  await client.query('BEGIN');
  await client.query(text);
  const locks = await ask<{ of: number; mode: string }>(LOCKS);
  const after = new Map((await ask<Table>(TABLES)).map((table) => [table.oid, table]));
  const added = async (question: string, known: readonly Part[]) =>
    (await ask<Part>(question)).filter(({ oid }) => !known.some((one) => one.oid === oid));
  const [newIndexes, newChecks] = [await added(INDEXES, indexes), await added(CHECKED, checked)];
  const newViews = await added(VIEWED, viewed);
  await client.query('COMMIT');

  const modes = (of: number) => locks.filter((lock) => lock.of === of).map(({ mode }) => mode);
  const has = (of: number, ...any: string[]) => modes(of).some((mode) => any.includes(mode));
  const named = (matches: (table: Table) => boolean) => {
    const names = before
      .filter(({ oid }) => after.has(oid))
      .filter(matches)
      .map(({ name }) => name);
    return names.length > 0 ? names.sort() : undefined;
  };
  const counted = (count: (table: Table) => number) => {
    const counts = named((table) => count(table) > 0)?.map((name) => [
      name,
      count(before.find((table) => table.name === name) as Table),
    ]);
    return counts && Object.fromEntries(counts);
  };
  const changes = ({ oid }: Table) => has(oid, 'RowExclusiveLock');
  const blocks = ({ oid }: Table) => has(oid, 'AccessExclusiveLock');
  return JSON.parse(
    JSON.stringify({
      blocks: named(blocks),
      blocksWrites: named(
        (table) =>
          !blocks(table) && has(table.oid, 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock'),
      ),
      reads: named(
        (table) =>
          !changes(table) &&
          (has(table.oid, 'RowShareLock') ||
            (has(table.oid, 'AccessShareLock') && !newViews.some(({ of }) => of === table.oid)) ||
            newChecks.some(({ of }) => of === table.oid)),
      ),
      changes: named(changes),
      rewrites: named(({ oid, file }) => after.get(oid)?.file !== file),
      indexes: counted(({ oid }) => newIndexes.filter(({ of }) => of === oid).length),
    }),
  );
}

t.test('migrations/effects.json says what each migration locks, reads and writes', async (t) => {
  const { url } = await testDatabase(t, { empty: true });
  const found: Record<string, MigrationEffects> = {};
  await withConnection(url, async (client) => {
    for (const { name, sql } of readMigrations()) found[name] = await effectsOf(client, sql);
  });
  if (process.env.UPDATE_GOLDEN) writeFileSync(RECORDED, `${JSON.stringify(found, null, 2)}\n`);
  const recorded = JSON.parse(readFileSync(RECORDED, 'utf8'));
  t.same(found, recorded, 'run `npm run schema` and review the difference');
});

t.test(
  'says before a release what it would lock and for how long, and changes nothing',
  async (t) => {
    const { url, pool } = await testDatabase(t, { empty: true });
    const plan = () => withConnection(url, planRelease);
    const all = readMigrations();
    t.same(await plan(), [
      `The database is empty: a release would apply all ${all.length} migrations.`,
    ]);
    const left = all.slice(7);
    await migrate(url, { folder: firstMigrations(t, 7) });
    const lines = await plan();
    t.equal(lines[0], `A release would apply ${left.length} migrations, each in a transaction:`);
    t.same(
      lines.slice(1).map((line) => line.split(':')[0]?.trim()),
      left.map(({ name }) => name),
    );
    t.match(
      lines.find((line) => line.includes('0011-')),
      /: blocks reads and writes of .*notes \(\d+ kB\).*; reads .*events \(\d+ kB\).*, for about a second at most$/,
    );
    const busy = new pg.Client({ connectionString: url, application_name: 'a backup' });
    await busy.connect();
    t.teardown(() => busy.end());
    await busy.query('BEGIN');
    t.notMatch((await plan()).join(), 'a backup', 'a transaction that has just begun');
    const { rowCount } = await pool.query('SELECT FROM schema_migrations');
    t.equal(rowCount, 7);
    await migrate(url);
    t.same(await plan(), ['The schema is current: a release would apply no migration.']);
    await pool.query(
      `INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, '9999-later', 'x')`,
    );
    await t.rejects(plan(), { message: /^The database is ahead: it has 9999-later/ });
  },
);

t.test('estimates how long a migration takes by what it does to each table', async (t) => {
  const sizes = new Map([
    ['events', 400_000_000],
    ['notes', 30_000_000],
  ]);
  t.equal(describeEffect({}, sizes), 'blocks nothing');
  t.equal(
    describeEffect({ blocksWrites: ['events'], indexes: { events: 3 } }, sizes),
    'blocks writes of events (400 MB); builds indexes on events (400 MB), for up to about 3 s',
  );
  t.equal(
    describeEffect({ blocks: ['notes'], reads: ['events'], changes: ['notes'] }, sizes),
    'blocks reads and writes of notes (30 MB); changes rows of notes (30 MB); reads events (400 MB), for up to about 14 s',
  );
});
