import pg from 'pg';
import t from 'tap';
import { withConnection } from '../../platform/postgres/connection.ts';
import { DATABASE_ROLES } from '../../services/database-roles.ts';
import { asRole } from '../support/database.ts';
import {
  createHealthy,
  createUngranted,
  diagnose,
  runCli,
  runSql,
  startDurableServer,
  TEMPLATE,
} from '../support/doctor.ts';

const RELEASE = 'services/release.ts';
const GRANT = [RELEASE, '--grant'];
const GRANTED =
  /^The schema is current\nGranted the roles service, service_read, service_metrics\n$/;

const server = await startDurableServer(t);

// Each test finds a server without the roles of a release, and without the databases in which they have privileges.
t.afterEach(async () => {
  await withConnection(server.url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT datname AS name FROM pg_database
       WHERE NOT datistemplate AND datname NOT IN ('postgres', 'service', $1)`,
      [TEMPLATE],
    );
    for (const { name } of rows) await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.query(`DROP ROLE IF EXISTS ${DATABASE_ROLES.join(', ')}`);
  });
});

t.test('grants the roles for an owner that a superuser helps once', async (t) => {
  const { env, name, url, backups } = await createUngranted(t, server);

  const refused = await runCli(GRANT, env);
  t.match(refused, { code: 1, stdout: 'The schema is current\n' });
  const [line = '', ...statements] = refused.stderr.trimEnd().split('\n');
  t.equal(line, 'A superuser has to run, once, before the roles can be granted:');
  t.match(statements, [
    '  CREATE ROLE service LOGIN;',
    '  CREATE ROLE service_read LOGIN;',
    '  CREATE ROLE service_metrics LOGIN;',
    '  GRANT pg_monitor TO service_metrics;',
    `  ALTER ROLE service IN DATABASE ${name} SET plan_cache_mode = 'force_generic_plan';`,
  ]);
  const roles = await runCli([RELEASE], env);
  t.match(roles, { code: 0, stdout: 'The schema is current\n' }, 'nothing was granted');
  await runSql(
    server,
    statements.map((statement) => statement.trim().slice(0, -1)).join('; '),
    url,
  );
  for (let again = 0; again < 2; again++)
    t.match(await runCli(GRANT, env), { code: 0, stdout: GRANTED, stderr: '' });

  await runSql(server, `ALTER ROLE service PASSWORD 'service'`);
  const service = new pg.Client({
    connectionString: asRole(url, 'service'),
    application_name: 'service web',
  });
  await service.connect();
  t.same((await service.query('SHOW plan_cache_mode')).rows, [
    { plan_cache_mode: 'force_generic_plan' },
  ]);
  t.match(await runCli(['cli/restored.ts'], env), {
    code: 1,
    stderr: 'Stop all processes first: service web connected to the database\n',
  });
  await service.end();
  t.match(await diagnose('roles', { ...env, DATABASE_URL: asRole(url, 'service') }), {
    lines: ['ok    roles          The role service can use the tables, but does not own them'],
  });

  const owner = new pg.Client(url);
  await owner.connect();
  await owner.query('CREATE TABLE later ()');
  t.match(await runCli([RELEASE], env), { code: 0, stdout: GRANTED }, 'without --grant');
  const { rows } = await owner.query(`SELECT has_table_privilege('service', 'later', 'DELETE')`);
  t.same(rows, [{ has_table_privilege: true }]);
  await owner.end();
  t.match(await runCli(['cli/rebuild.ts'], env), { code: 0, stdout: /^Rebuilt every read model/ });
  t.match(await runCli(['cli/restored.ts'], env), { code: 0, stdout: /^Epoch / });
  t.match(await runCli(['cli/backup.ts', `${backups}/second`], env), { code: 0 });
});

t.test('a restore grants the roles again', async (t) => {
  const { env, backups, name } = await createHealthy(t, server);
  const folder = `${backups}/first`;
  const newDatabase = async (database: string) => {
    await runSql(server, `CREATE DATABASE ${database} OWNER ${name}`);
    return new URL(`/${database}`, server.url);
  };
  const restore = ({ href }: URL) =>
    runCli(['cli/restore.ts', folder], { ...env, DATABASE_URL: href });
  const rolesIn = ({ href }: URL) =>
    diagnose('roles', { ...env, DATABASE_URL: asRole(href, 'service') });
  const isGranted = { lines: ['ok    roles          The role service can use the tables, but'] };

  const another = await newDatabase('another');
  t.match(await restore(another), { code: 0, stdout: /\nGranted the roles service, / });
  t.match(await rolesIn(another), isGranted);

  const third = await newDatabase('third');
  Object.assign(third, { username: name, password: name });
  const helped = await restore(third);
  t.match(helped, { code: 1, stdout: /^Epoch / });
  const [line = '', ...statements] = helped.stderr.trimEnd().split('\n');
  t.match(
    line,
    /^The backup is restored, but .* npm run release -- --grant: A superuser has to run/,
  );
  t.match(statements[0], /^ {2}ALTER ROLE service IN DATABASE third SET /);
  const repair = statements.map((statement) => statement.trim().slice(0, -1)).join('; ');
  await runSql(server, repair, third.href);
  t.match(await runCli(GRANT, { ...env, DATABASE_URL: third.href }), { code: 0, stdout: GRANTED });
  t.match(await rolesIn(third), isGranted);
});

t.test(
  'a restore says which roles the server lacks, unless web and worker own the tables',
  async (t) => {
    const { env, backups, name } = await createUngranted(t, server);
    const restore = async (database: string) => {
      await runSql(server, `CREATE DATABASE ${database} OWNER ${name}`);
      const url = Object.assign(new URL(env.DATABASE_URL), { pathname: `/${database}` });
      return runCli(['cli/restore.ts', `${backups}/first`], { ...env, DATABASE_URL: url.href });
    };
    const lacks = (roles: string) => ({
      code: 0,
      stdout: /^Epoch /,
      stderr: `No privileges were granted, because this server lacks the roles ${roles}: if web and worker are not to own the tables, run npm run release -- --grant (docs/operating/roles.md)\n`,
    });
    await runSql(server, 'CREATE ROLE service_read');
    t.match(await restore('lacking'), lacks('service, service_metrics'));
    await runSql(server, `CREATE ROLE service IN ROLE ${name}`);
    t.match(await restore('owned'), { code: 0, stderr: '' });
  },
);

t.test('sends a role that lacks a privilege to the page on roles', async (t) => {
  const { env, ownerEnv } = await createHealthy(t, server);
  const hint =
    /^[^\n]*(permission denied for|must be owner of) [^\n]*: release, rebuild, restore and restored need the role that owns the tables; [^\n]*\(docs\/operating\/roles\.md\)\n$/;
  t.match(await runCli(['cli/rebuild.ts'], env), { code: 1, stdout: '', stderr: hint });
  await runSql(server, 'REVOKE USAGE ON SCHEMA pgboss FROM service', ownerEnv.DATABASE_URL);
  t.match(await runCli(['cli/dead-letters.ts', 'list'], env), { code: 1, stderr: hint });
});

t.test('refuses a role service that no grant limits', async (t) => {
  const { env } = await createUngranted(t, server);
  await runSql(server, 'CREATE ROLE service SUPERUSER');
  t.same(await runCli(GRANT, env), {
    code: 1,
    stdout: 'The schema is current\n',
    stderr:
      'The role service owns the tables or is a superuser, which no grant limits: see docs/operating/roles.md\n',
  });
});
