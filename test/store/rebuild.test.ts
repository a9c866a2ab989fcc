import { randomUUID } from 'node:crypto';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { seedLog } from '../../bench/seed-log.ts';
import { readModels } from '../../harness/rebuilt.ts';
import { callUntilTaken, newKey, signedIn } from '../../harness/registration.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { MIGRATIONS, migrate } from '../../platform/postgres/migrate.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { testDatabase } from '../support/database.ts';
import { whileWaitingForLock } from '../support/meanwhile.ts';
import { operatorEnv } from '../support/moderator-command.ts';
import { rebuildTables, startRebuild } from '../support/rebuild-command.ts';
import { dumpSchema } from '../support/schema-dump.ts';
import { startService } from '../support/service.ts';

t.test('rebuilds every read model equally while members keep writing', async (t) => {
  const service = await startService(t);
  const members = await Promise.all(Array.from({ length: 12 }, () => signedIn(service)));
  for (const member of members.slice(0, 4)) {
    await callUntilTaken(service, 'POST', '/api/guestbook', {
      body: {
        id: randomUUID(),
        message: 'A note of a member',
        attribution: 'member',
        member_handle: member.handle,
      },
      cookie: member.cookie,
    });
    await callUntilTaken(service, 'POST', '/api/membership/recover', {
      body: {
        id: member.id,
        recovery_key: member.recovery_key,
        new_sign_in_key: newKey(),
        new_recovery_key: newKey(),
        operation_id: randomUUID(),
      },
    });
  }
  await Promise.all([
    ...Array.from({ length: 10 }, () => signedIn(service)),
    rebuild(service.database.url, catalogue, projections),
  ]);
  const before = await readModels(service.database.pool);
  t.ok((before.feed ?? []).length >= 44);
  const { events } = await rebuild(service.database.url, catalogue, projections);
  const { rows } = await service.database.pool.query('SELECT count(*)::int FROM events');
  t.equal(events, rows[0].count);
  t.same(await readModels(service.database.pool), before);
  const { rows: unknown } = await service.database.pool.query(
    `SELECT relname FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relname = ANY($1) AND reltuples < 0`,
    [projections.flatMap(({ tables }) => tables)],
  );
  t.same(unknown, [], 'every table has statistics');
});

t.test('leaves the schema as it was, with the names of all indexes', async (t) => {
  const { pool, url } = await testDatabase(t, { empty: true });
  await migrate(url);
  const before = await dumpSchema(pool);
  await rebuild(url, catalogue, projections);
  t.equal(await dumpSchema(pool), before);
});

t.test('rebuilds across ranges of positions without events', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  for (const position of [3000, 4500, 900_000_000]) {
    await signedIn(service);
    await pool.query(`SELECT setval('events_position_seq', $1)`, [position]);
  }
  await signedIn(service);
  const before = await readModels(pool);
  const { rows } = await pool.query('SELECT count(*)::int FROM events');
  t.same(await rebuild(url, catalogue, projections), { events: rows[0].count, kept: [] });
  t.same(await readModels(pool), before);
});

t.test('rebuilds from the log that the benchmarks seed', async (t) => {
  const { pool, url } = await testDatabase(t);
  await seedLog(url, randomUUID(), 2000);
  const { events } = await rebuild(url, catalogue, projections);
  const { rows } = await pool.query('SELECT count(*)::int AS notes FROM notes');
  t.ok(events > 0);
  t.same(rows, [{ notes: events }]);
});

t.test('names the first event that it cannot rebuild from', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  const { cookie, handle } = await signedIn(service);
  const sign = async (message: string) => {
    const id = randomUUID();
    const body = { id, attribution: 'member', member_handle: handle, message };
    t.equal((await service.call('POST', '/api/guestbook', { cookie, body })).status, 202);
    // Each note is in another page, so that a later batch is under way when one fails.
    await pool.query(`SELECT setval('events_position_seq', max(position) + 3000) FROM events`);
    return `note-${id}`;
  };
  await sign('Before');
  const streams = [await sign('At fault'), await sign('Also at fault')];
  await sign('After');
  await pool.query('ALTER TABLE events DISABLE TRIGGER USER');
  const change = async (data: string) => {
    const { rows } = await pool.query<{ event_id: string; position: number }>(
      `UPDATE events SET data = ${data} WHERE stream_id = ANY($1) AND stream_version = 1
       RETURNING event_id, position`,
      [streams],
    );
    return rows.sort((one, other) => one.position - other.position)[0];
  };
  const { event_id, position } = (await change(`data - 'attribution'`)) ?? {};
  const failed = await rebuild(url, catalogue, projections).catch((error: Error) => error);
  t.match(failed, {
    message: `Cannot rebuild from event ${event_id} (NoteSubmitted at position ${position} of the log)`,
    cause: { message: /^null value in column "attribution" / },
  });
  await change(`data || '{"attribution": "member"}'`);
  await rebuild(url, catalogue, projections);
});

t.test('keeps a migration that is released during a rebuild', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  await signedIn(service);
  const { path: folder, remove } = temporaryFolder('migrations');
  t.teardown(remove);
  cpSync(MIGRATIONS, folder, { recursive: true });
  writeFileSync(
    join(folder, '9999-last.sql'),
    'ALTER TABLE members ADD COLUMN added int DEFAULT 7;',
  );
  const rebuilt = whileWaitingForLock(
    pool,
    'LOCK TABLE feed IN ACCESS SHARE MODE',
    () => rebuild(url, catalogue, projections).catch((error: Error) => error),
    () => migrate(url, { folder }),
  );
  t.match(await rebuilt, { message: /schema was changed meanwhile.*run the rebuild again/ });
  t.same((await pool.query('SELECT added FROM members')).rows, [{ added: 7 }]);
  t.same(await rebuildTables(pool), []);
  // An older release would build tables without the new column.
  await t.rejects(rebuild(url, catalogue, projections), /database is ahead: it has 9999-last/);
  t.same((await pool.query('SELECT added FROM members')).rows, [{ added: 7 }]);
});

t.test('leaves no table after an interrupted rebuild', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  await signedIn(service);
  const holder = await pool.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE feed IN ACCESS SHARE MODE');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const command = startRebuild(operatorEnv(service));
    t.teardown(() => command.child.kill('SIGKILL'));
    await command.untilWaits();
    t.not((await rebuildTables(pool)).length, 0);
    command.child.kill(signal);
    const { code, stdout, stderr } = await command.end();
    t.match({ code, stdout }, { code: 1, stdout: '' });
    t.equal(stderr.split('\n').at(-2), `Ended by ${signal}`);
    t.same(await rebuildTables(pool), []);
  }
  await holder.query('COMMIT');
  holder.release();
});

t.test('keeps the privileges on read models and adds none', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  const role = `"Reader ${randomUUID()}"`;
  const statements = [
    `CREATE ROLE ${role}`,
    `GRANT SELECT ON members TO ${role} WITH GRANT OPTION`,
    `GRANT INSERT ON members TO ${role}`,
    'GRANT SELECT ON feed TO PUBLIC',
    'REVOKE TRUNCATE ON notes FROM current_user',
    `ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${role}`,
  ];
  for (const statement of statements) await pool.query(statement);
  const privileges = async () => {
    const { rows } = await pool.query(
      `SELECT relname, item::text FROM pg_class,
         unnest(coalesce(relacl, acldefault('r', relowner))) item
       WHERE relnamespace = 'public'::regnamespace AND relname = ANY($1) ORDER BY 1, 2`,
      [projections.flatMap(({ tables }) => tables)],
    );
    return rows;
  };
  const before = await privileges();
  await rebuild(url, catalogue, projections);
  t.strictSame(await privileges(), before);
  await pool.query(`DROP OWNED BY ${role}`);
  await pool.query(`DROP ROLE ${role}`);
});

t.test("runs a rebuild without a deadline, whatever the database's setting", async (t) => {
  const { url, pool } = await testDatabase(t);
  const name = new URL(url).pathname.slice(1);
  await pool.query(`ALTER DATABASE ${name} SET statement_timeout = '500ms'`);
  const holder = await pool.connect();
  await holder.query('SET statement_timeout = 0; BEGIN; LOCK TABLE events');
  const rebuilt = rebuild(url, catalogue, projections);
  // Three times the deadline that the rebuild must not have.
  await holder.query('SELECT pg_sleep(1.5); COMMIT');
  holder.release();
  t.same(await rebuilt, { events: 0, kept: [] });
});

t.test('says who holds the lock while another rebuild runs', async (t) => {
  const { url, pool } = await testDatabase(t);
  const holder = await pool.connect();
  await holder.query(`SELECT pg_advisory_lock(hashtext('rebuild'))`);
  const said = Promise.withResolvers<string>();
  const rebuilt = rebuild(url, catalogue, projections, { tell: said.resolve });
  t.match(await said.promise, /^The lock rebuild is held by process \d+ \(no name, since /);
  await holder.query(`SELECT pg_advisory_unlock(hashtext('rebuild'))`);
  holder.release();
  t.same(await rebuilt, { events: 0, kept: [] });
});
