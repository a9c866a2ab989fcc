import pg from 'pg';
import t from 'tap';
import { asRole } from '../support/database.ts';
import {
  createUngranted,
  diagnose,
  runCli,
  runSql,
  startDurableServer,
} from '../support/doctor.ts';

const RELEASE = 'services/release.ts';
const GRANT = [RELEASE, '--grant'];
const GRANTED =
  /^The schema is current\nGranted the roles service, service_read, service_metrics\n$/;

t.test('grants the roles for an owner that a superuser helps once', async (t) => {
  const server = await startDurableServer(t);
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

t.test('refuses a role service that no grant limits', async (t) => {
  const server = await startDurableServer(t);
  const { env } = await createUngranted(t, server);
  await runSql(server, 'CREATE ROLE service SUPERUSER');
  t.same(await runCli(GRANT, env), {
    code: 1,
    stdout: 'The schema is current\n',
    stderr:
      'The role service owns the tables or is a superuser, which no grant limits: see docs/operating/roles.md\n',
  });
});
