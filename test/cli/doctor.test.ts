import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { readManifest, writeManifest } from '../../cli/backup/folder.ts';
import { checkAddress } from '../../cli/doctor/configuration.ts';
import { versionFinding } from '../../cli/doctor/server.ts';
import { newAgent } from '../../harness/agent.ts';
import { needs } from '../../harness/programs.ts';
import { newKey } from '../../harness/registration.ts';
import { readConfig } from '../../platform/config.ts';
import { startCaller } from '../../platform/jobs/boss.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { whyElsewhere } from '../../services/localhost.ts';
import { receiversOf } from '../../services/notices/messages.ts';
import { asRole } from '../support/database.ts';
import { startPgBouncer } from '../support/deploy-config.ts';
import {
  asSuperuser,
  createHealthy,
  createOwnedDatabase,
  createUngranted,
  diagnose,
  diagnoseByCommand,
  runCli,
  runSql,
  startDurableServer,
} from '../support/doctor.ts';
import { startPooler } from '../support/pooler.ts';
import { repeatWhile } from '../support/repeat-while.ts';
import { startService } from '../support/service.ts';
import { startTlsProxy } from '../support/tls-proxy.ts';

// Many runs, some of them processes of their own, share the machine with other tests.
t.setTimeout(900_000);

const NAMES = [
  ...[
    'configuration',
    'address',
    'disk',
    'database',
    'cluster',
    'clock',
    'settings',
    'pooler',
    'standbys',
  ],
  ...[
    'replica',
    'migrations',
    'roles',
    'protection',
    'tables',
    'jobs',
    'notices',
    'log',
    'seal',
    'read-models',
    'sandbox',
    'words',
    'keys',
    'backup',
  ],
];
const WARNING = 1;
const BAD = 2;

type HealthyEnv = Awaited<ReturnType<typeof createHealthy>>['env'];

const server = await startDurableServer(t);

/** The SQL at the end of a finding. */
const sqlOf = ([line = '']: string[]): string => /: ((?:ALTER|GRANT) .+)$/.exec(line)?.[1] ?? '';

/** Asserts a finding of a check, runs the SQL that it ends with, and asserts that it is gone. */
async function mendBySql(
  t: Test,
  check: string,
  env: Record<string, string>,
  line: string,
  code: number,
): Promise<void> {
  const found = await diagnose(check, env, { args: [env.BACKUPS ?? ''] });
  t.match(found, { code, lines: [line] });
  await runSql(server, sqlOf(found.lines), env.DATABASE_URL);
  // A server reads its files again soon after it was asked to.
  for (let turn = 0; turn < 50; turn++) {
    const { lines } = await diagnose(check, env, { args: [env.BACKUPS ?? ''] });
    if (lines.every((one) => one.startsWith('ok '))) return;
    await sleep(100);
  }
  t.fail(`${line} stays`);
}

/** Starts the service in the environment of `createHealthy`; `url` is the owner's address. */
function startServiceOn(t: Test, url: string, { DATABASE_URL, SERVER_KEYS }: HealthyEnv) {
  const pool = new pg.Pool({ connectionString: url });
  t.teardown(() => pool.end());
  return startService(t, { DATABASE_URL, SERVER_KEYS }, { url, pool });
}

t.test('finds nothing in a healthy service, and prints a line for each check', async (t) => {
  const { env, backups } = await createHealthy(t, server);
  const { code, stdout, stderr } = await runCli(['cli/doctor.ts', backups], env);
  t.same({ code, stderr }, { code: 0, stderr: '' }, stdout);
  const lines = stdout.trimEnd().split('\n');
  t.same(
    lines.map((line) => line.split(/ +/).slice(0, 2).join(' ')),
    NAMES.map((name) => `ok ${name}`),
  );
});

t.test('explains itself, and refuses unknown arguments', async (t) => {
  const usage = /Usage:\n {2}npm run doctor/;
  t.match(await runCli(['cli/doctor.ts', '--help'], {}), { code: 0, stdout: usage, stderr: '' });
  for (const [args, sentence] of [
    [['--fix'], "Unknown option '--fix'."],
    [['a', 'b'], "Unexpected argument 'b'."],
  ] as const)
    t.match(await runCli(['cli/doctor.ts', ...args], {}), {
      code: 2,
      stdout: '',
      stderr: new RegExp(`^${sentence}\n`),
    });
});

t.test('names every fault of the configuration', async (t) => {
  const { env, backups } = await createHealthy(t, server);
  const faults = { PORT: 'x', DATABASE_URL: '', DATABASE_DIRECT_URL: env.DATABASE_URL };
  const found = await diagnose('configuration', { ...env, ...faults }, { args: [backups] });
  t.same(found.lines, [
    'bad   configuration  PORT must be a whole number from 0 to 65535: export PORT=…',
    'bad   configuration  DATABASE_DIRECT_URL needs DATABASE_URL beside it: unset DATABASE_DIRECT_URL',
  ]);
  t.equal(found.code, BAD);
});

t.test('warns of settings that a public service lacks', async (t) => {
  const { env, backups } = await createHealthy(t, server);
  const publicEnv = { ...env, BASE_URL: 'https://guestbook.example' };
  const found = await diagnose('configuration', publicEnv, { args: [backups] });
  t.match(found, {
    code: WARNING,
    lines: [
      /^warn {2}configuration {2}.*: export TRUSTED_PROXIES=1$/,
      /^warn {2}configuration {2}.*: export SECURITY_CONTACT=mailto:security@example\.org$/,
    ],
  });
  const mended = { TRUSTED_PROXIES: '1', SECURITY_CONTACT: 'mailto:security@example.org' };
  t.match(await diagnose('configuration', { ...publicEnv, ...mended }, { args: [backups] }), {
    lines: ['ok    configuration  The settings are valid, for https://guestbook.example'],
  });
  const embedded = await diagnose('configuration', { ...publicEnv, DATABASE_URL: '' });
  t.match(embedded.lines[0], /embedded PostgreSQL is for development: export DATABASE_URL=/);
});

t.test('says that the database cannot be reached, without its password', async (t) => {
  const DATABASE_URL = 'postgres://service:hidden-word@127.0.0.1:1/service';
  const found = await diagnose('database', { DATABASE_URL, SERVER_KEYS: `1:${newKey()}` });
  t.match(found, {
    code: BAD,
    lines: [/^bad {3}database {7}Cannot connect \(.*ECONNREFUSED.*\): start PostgreSQL, or export/],
  });
  t.notMatch(JSON.stringify(found), 'hidden-word');
  const { env, folder } = await createHealthy(t, server);
  const stopped = await diagnose('database', { ...env, DATABASE_URL: '', DATA_DIR: folder });
  t.match(stopped, { code: BAD, lines: [/No instance runs with DATA_DIR .*: begin one with npm/] });
});

t.test('knows the versions of PostgreSQL with which a release works', async (t) => {
  t.match(versionFinding('14.20'), { level: 'bad', command: 'pg_upgrade' });
  for (const version of ['15.0', '18.4 (Debian 18.4-1)'])
    t.equal(versionFinding(version), undefined);
  t.match(versionFinding('19beta1'), { level: 'warn', command: /npm test$/ });
});

t.test('warns of a clock that differs by more than a second', async (t) => {
  const { env, backups } = await createHealthy(t, server);
  const moved = 'const now = Date.now; Date.now = () => now() - 5000;';
  // On a busy machine, one way of a round trip may take much longer than the other.
  const found = await repeatWhile(
    ({ lines }) => !/ 5\.0 s /.test(lines.join()),
    () => diagnoseByCommand('clock', env, { args: [backups], imports: [moved] }),
  );
  t.match(found, {
    code: WARNING,
    lines: [
      /^warn {2}clock {10}The database's clock is 5\.0 s ahead of .*: timedatectl set-ntp true$/,
    ],
  });
  t.match(await diagnose('clock', env, { args: [backups] }), { code: 0, lines: [/ is 0\.\d s /] });
});

t.test('finds settings with which acknowledged writes are lost', async (t) => {
  const { env, backups, name } = await createHealthy(t, server);
  const mend = (line: string, code: number) =>
    mendBySql(t, 'settings', { ...env, BACKUPS: backups }, line, code);
  const forRole = `ALTER ROLE service IN DATABASE ${name} SET`;
  const cases = [
    ['ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf()', 'fsync is off', BAD],
    ['ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf()', 'full_page_writes', BAD],
    [`${forRole} synchronous_commit = off`, 'synchronous_commit is off', BAD],
    [`${forRole} synchronous_commit = local`, 'synchronous_commit is local', WARNING],
    [`ALTER DATABASE ${name} SET idle_session_timeout = 9000`, 'idle_session_timeout is', WARNING],
  ] as const;
  for (const [fault, text, code] of cases) {
    await runSql(server, fault);
    await mend(text, code);
  }
});

t.test('finds settings that a release would refuse', async (t) => {
  const { env, backups, name } = await createHealthy(t, server);
  const mend = (line: string) => mendBySql(t, 'settings', { ...env, BACKUPS: backups }, line, BAD);
  await runSql(server, `ALTER ROLE service IN DATABASE ${name} SET DateStyle = 'German'`);
  await mend('DateStyle is German');
  await runSql(server, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
  await mend('default_transaction_isolation is serializable');
  const latin = `ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0`;
  const { url } = await createOwnedDatabase(server, latin);
  t.match((await diagnose('settings', { ...env, DATABASE_URL: url })).lines, [
    /encoding of the database is LATIN1: CREATE DATABASE another ENCODING 'UTF8' TEMPLATE/,
  ]);
});

t.test('finds a pooler without a direct connection beside it', async (t) => {
  const { env, backups } = await createHealthy(t, server);
  const pooled = await startPooler(t, env.DATABASE_URL);
  const check = (more: Record<string, string>) =>
    diagnoseByCommand('pooler', { ...env, DATABASE_URL: pooled, ...more }, { args: [backups] });
  const command = 'export DATABASE_DIRECT_URL=postgres://';
  t.match(await check({}), { code: BAD, lines: [`need a direct connection: ${command}`] });
  const another = await createOwnedDatabase(server);
  t.match(await check({ DATABASE_DIRECT_URL: another.url }), {
    code: BAD,
    lines: [`leads to another database than DATABASE_URL: ${command}`],
  });
  t.match(await check({ DATABASE_DIRECT_URL: await startPooler(t, env.DATABASE_URL) }), {
    code: BAD,
    lines: [`DATABASE_DIRECT_URL leads through a pooler: ${command}`],
  });
  t.match(await check({ DATABASE_DIRECT_URL: env.DATABASE_URL }), { code: 0, lines: [/^ok /] });
});

t.test('finds connections of a pooler that lack the planner settings', async (t) => {
  const { env, backups, name, url } = await createHealthy(t, server);
  const pooled = await startPooler(t, env.DATABASE_URL);
  const both = { ...env, DATABASE_URL: pooled, DATABASE_DIRECT_URL: env.DATABASE_URL };
  await runSql(server, `ALTER ROLE service IN DATABASE ${name} RESET plan_cache_mode`);
  t.match(await diagnoseByCommand('pooler', both, { args: [backups] }), {
    code: WARNING,
    lines: ['20 of 20 connections of the pooler lack the planner settings: npm run release, then'],
  });
  const superuserEnv = { ...env, DATABASE_URL: asSuperuser(server, url) };
  t.match(await runCli(['services/release.ts'], superuserEnv), { code: 0 });
  t.match(await diagnoseByCommand('pooler', both, { args: [backups] }), {
    code: 0,
    lines: [/^ok /],
  });
});

t.test('finds a pooler that loses prepared statements', needs('pgbouncer'), async (t) => {
  const { env } = await createHealthy(t, server);
  const pooled = await startPgBouncer(t, env.DATABASE_URL);
  const both = { ...env, DATABASE_URL: pooled, DATABASE_DIRECT_URL: env.DATABASE_URL };
  t.match(await diagnose('pooler', both), {
    code: BAD,
    lines: [/does not keep prepared statements: PgBouncer from 1\.21 with max_prepared_statements/],
  });
});

t.test('finds a database without the schema of this release', async (t) => {
  const { env, backups } = await createHealthy(t, server);
  const { url } = await createOwnedDatabase(server);
  const empty = { ...env, DATABASE_URL: url };
  t.match(await diagnose('migrations', empty, { args: [backups] }), {
    code: BAD,
    lines: [/ The database lacks 0001-schema.*: npm run release$/, 'job queue: npm run release'],
  });
  t.match((await diagnose('log', empty)).lines, [
    /^bad {3}log .*Cannot be checked .*: npm run rel/,
  ]);
  t.match(await runCli(['services/release.ts'], empty), { code: 0 });
  t.match(await diagnose('migrations', empty, { args: [backups] }), { lines: [/^ok /] });
  await runSql(server, 'DROP SCHEMA pgboss CASCADE', url);
  t.match((await diagnose('migrations', empty)).lines, ['job queue: npm run release']);
  await migrate(url);
  await runSql(
    server,
    `INSERT INTO schema_migrations (version, name, checksum) VALUES (9000, '9000-later', '')`,
    url,
  );
  t.match(await diagnose('migrations', empty, { args: [backups] }), {
    code: BAD,
    lines: [/The database is ahead: it has 9000-later, .*: install the release that made the/],
  });
});

t.test('warns of an owner and a superuser, and finds a role without privileges', async (t) => {
  const { env, backups, name, url } = await createUngranted(t, server);
  const check = (address: string) =>
    diagnose('roles', { ...env, DATABASE_URL: address }, { args: [backups] });
  const release = 'npm run release -- --grant, and connect the processes as service';
  t.same((await check(url)).lines, [
    `warn  roles          The role ${name} owns the tables, so that it can change and drop the log: ${release}`,
  ]);
  const superuser = asSuperuser(server, url);
  t.match(await check(superuser), {
    code: WARNING,
    lines: [/^warn .* is a superuser, .*: npm run release -- --grant, and connect the processes/],
  });
  const web = new URL(url);
  web.username = `${name}_web`;
  await runSql(server, `CREATE ROLE ${name}_web LOGIN PASSWORD '${name}'`);
  t.match((await check(web.href)).lines, [
    /^bad .*cannot use .* tables, .*: npm run release -- --grant, as the owner of the tables$/,
  ]);

  const granted = await runCli(['services/release.ts', '--grant'], {
    ...env,
    DATABASE_URL: superuser,
  });
  t.match(granted, { code: 0 });
  await runSql(server, `ALTER ROLE service PASSWORD 'service'`);
  t.match(await check(asRole(url, 'service')), { code: 0, lines: [/^ok /] });
  const webEnv = { ...env, BACKUPS: backups, DATABASE_URL: web.href };
  await mendBySql(t, 'roles', webEnv, `The role ${name}_web cannot use `, BAD);
  await runSql(server, `ALTER ROLE ${name}_web SUPERUSER`);
  await mendBySql(t, 'roles', webEnv, `The role ${name}_web is a superuser`, WARNING);
  t.match(await diagnose('keys', webEnv, { args: [backups] }), { code: 0 });
});

t.test('sends a role that lacks privileges of service to the release', async (t) => {
  const { env, ownerEnv, backups, url } = await createHealthy(t, server);
  await runSql(server, 'REVOKE INSERT ON receipts FROM service', url);
  t.match(await diagnose('roles', env, { args: [backups] }), {
    code: BAD,
    lines: [/cannot use 1 tables, such as receipts: npm run release -- --grant, as the owner/],
  });
  const asAdmin = { ...ownerEnv, DATABASE_URL: asSuperuser(server, url) };
  t.match(await runCli(['services/release.ts', '--grant'], asAdmin), { code: 0 });
  t.match(await diagnose('roles', env, { args: [backups] }), { code: 0, lines: [/^ok /] });
});

t.test('finds a log without its triggers, and privileges that reach too far', async (t) => {
  const { env, ownerEnv, backups, url, name } = await createHealthy(t, server);
  const check = () => diagnose('protection', env, { args: [backups] });
  const mend = async (fault: string, line: RegExp, code: number) => {
    await runSql(server, fault, url);
    const found = await check();
    t.match(found, { code, lines: [line] }, fault);
    const command = /: ((?:ALTER|CREATE|REVOKE) .+|npm run .+)$/.exec(found.lines[0] ?? '')?.[1];
    if (command?.startsWith('npm')) {
      const asAdmin = { ...ownerEnv, DATABASE_URL: asSuperuser(server, url) };
      t.match(await runCli(['services/release.ts', '--grant'], asAdmin), { code: 0 });
    } else await runSql(server, command?.split(', and ')[0] ?? '', url);
    t.match(await check(), { code: 0, lines: [/^ok /] }, `${fault} is mended`);
  };
  for (const [table, trigger] of [
    ['events', 'events_keep_rows'],
    ['events', 'events_keep_table'],
    ['receipts', 'receipts_keep_rows'],
    ['receipts', 'receipts_keep_table'],
  ]) {
    const dropped = new RegExp(`lacks the trigger ${trigger}`);
    await mend(`DROP TRIGGER ${trigger} ON ${table}`, dropped, BAD);
    const off = new RegExp(`The trigger ${trigger}, .* is off`);
    await mend(`ALTER TABLE ${table} DISABLE TRIGGER ${trigger}`, off, BAD);
  }
  const replica = `ALTER DATABASE ${name} SET session_replication_role = replica`;
  await mend(replica, /session_replication_role is replica/, BAD);
  for (const [grant, line] of [
    ['UPDATE, DELETE ON events TO service', /service may DELETE, UPDATE events/],
    ['INSERT (position) ON events TO service', /service may INSERT \(position\) events/],
    ['UPDATE ON SEQUENCE events_position_seq TO service', /service may UPDATE events_position_seq/],
    ['SELECT ON verifiers TO service_read', /service_read may SELECT verifiers/],
    ['SELECT ON members TO PUBLIC', /everybody may SELECT members.*: REVOKE ALL ON members FROM P/],
  ] as const)
    await mend(`GRANT ${grant}`, line, WARNING);
});

t.test(
  'warns of tables that PostgreSQL does not tidy, and names the largest records',
  async (t) => {
    const { env, backups, url } = await createHealthy(t, server);
    const check = () => diagnose('tables', env, { args: [backups] });
    const mend = (line: string) =>
      mendBySql(t, 'tables', { ...env, BACKUPS: backups }, line, WARNING);
    t.match(await check(), { code: 0, lines: [/^ok .*; they are empty$/] });
    for (const setting of ['autovacuum', 'track_counts']) {
      await runSql(server, `ALTER SYSTEM SET ${setting} = off; SELECT pg_reload_conf()`);
      await mend(`${setting} is off`);
    }
    await runSql(server, 'ALTER TABLE feed SET (autovacuum_enabled = off)', url);
    await mend('autovacuum leaves out the table feed');

    const [member, other] = [randomUUID(), randomUUID()];
    await runSql(
      server,
      `INSERT INTO feed_heads (member_id, sequence) VALUES ('${member}', 7), ('${other}', 3)`,
      url,
    );
    await runSql(
      server,
      `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
       SELECT '${member}', 'member-${member}', n, gen_random_uuid(), 'MemberRegistered', '{}', '{}', now()
       FROM generate_series(1, 9000) n`,
      url,
    );
    await runSql(
      server,
      `INSERT INTO case_members (case_id, member_id)
       VALUES ('${member}', '${member}'), ('${member}', '${other}'), ('${other}', '${other}')`,
      url,
    );
    const large = await check();
    if (large.code === WARNING) {
      t.match(large.lines, [/There are no statistics of events, .*: ANALYZE events$/]);
      await runSql(server, 'ANALYZE events', url);
    }
    t.match(await check(), {
      code: 0,
      lines: [
        `the largest: stream member-${member} (9000 events), member ${member} (7 updates), case ${member} (2 participants)`,
      ],
    });
  },
);

t.test('finds a backup that this release cannot restore', async (t) => {
  const { env, backups } = await createHealthy(t, server);
  const first = join(backups, 'first');
  const check = () => diagnose('backup', env, { args: [backups] });
  const manifest = readManifest(first);
  const forge = (changed: Partial<typeof manifest>) => {
    for (const file of ['manifest.json', 'manifest.sha256', 'manifest.seal'])
      rmSync(join(first, file));
    writeManifest(first, { ...manifest, ...changed }, env.BACKUP_PASSPHRASE);
  };
  forge({ migrations: manifest.migrations.slice(0, -1) });
  t.match(await check(), {
    code: BAD,
    lines: [/first cannot be restored \(The backup was made by release .*\): npm run backup -- /],
  });
  forge({ tables: manifest.tables.filter(({ name }) => name !== 'cases') });
  t.match((await check()).lines, [
    /first is no backup \(manifest\.json of the backup is wrong at files/,
    /holds no complete backup/,
  ]);
  forge({});
  t.match(await check(), { code: 0, lines: [/^ok /] });
  rmSync(join(first, 'cases.copy.gz.sealed'));
  t.match((await check()).lines, [
    /first is no backup \(The backup is damaged: cases\.copy\.gz\.sealed is/,
    /no complete/,
  ]);
});

t.test('warns of jobs that failed for the last time', async (t) => {
  const { env, url, backups } = await createHealthy(t, server);
  await startServiceOn(t, url, env);
  const boss = await startCaller(env.DATABASE_URL, 'test');
  t.teardown(() => boss.stop({ graceful: false }));
  for (const note_id of [randomUUID(), randomUUID()]) {
    await boss.send('tell-author', { note_id }, { retryLimit: 0 });
    const [job] = await boss.fetch('tell-author');
    await boss.fail('tell-author', job?.id ?? '', { error: 'NoRoom' });
  }
  const check = () => diagnose('jobs', env, { args: [backups] });
  t.match(await check(), {
    code: WARNING,
    lines: [
      /^warn {2}jobs .*2 jobs .*, of the queue tell-author, at 20\S+Z: npm run dead-letters -- list, /,
    ],
  });
  t.match(await runCli(['cli/dead-letters.ts', 'again'], env), { code: 0, stdout: /^Gave 2 back/ });
  t.match(await check(), { code: 0, lines: [/^ok /] });
});

t.test('names a receiver that has failed for an hour, without its address', async (t) => {
  const { env, url, backups } = await createHealthy(t, server);
  const notify = {
    NOTIFY_URLS: 'https://hooks.example/hidden-path?hidden-query,https://other.example/',
    NOTIFY_SECRETS: [newKey(), newKey()].map((key) => `whsec_${key}`).join(),
  };
  const [receiver] = receiversOf(readConfig({ ...env, ...notify }).notifyUrls);
  await runSql(
    server,
    `INSERT INTO notice_receivers (receiver, position, dead_until, next_at, failed_since, failure)
     VALUES ('${receiver?.key}', 1, now(), now(), now() - interval '2 hours', 'status_500')`,
    url,
  );
  const check = () => diagnose('notices', { ...env, ...notify }, { args: [backups] });
  const found = await check();
  t.match(found, {
    code: WARNING,
    lines: [/^warn {2}notices .*1 hooks\.example has .*status_500: .*npm run notices -- skip 1$/],
  });
  t.notMatch(JSON.stringify(found), /hidden/);
  const skipped = await runCli(['cli/notices.ts', 'skip', '1'], { ...env, ...notify });
  t.match(skipped, { code: 0, stdout: /^1 hooks\.example continues/ });
  t.match(await check(), { code: 0, lines: [/^ok .*2 receivers are called$/] });
  t.match(await runCli(['cli/notices.ts', 'skip', '3'], { ...env, ...notify }), { code: 1 });
});

t.test('warns if no web process answers at the public address', needs('openssl'), async (t) => {
  const { env, url, backups, folder } = await createHealthy(t, server);
  const service = await startServiceOn(t, url, env);
  // This address leads to this machine, but is no loopback address.
  const proxy = await startTlsProxy(t, folder, '0.0.0.0', service.baseUrl);
  const publicEnv = {
    ...env,
    BASE_URL: proxy.url,
    TRUSTED_PROXIES: '1',
    SECURITY_CONTACT: 'mailto:security@example.org',
    NODE_EXTRA_CA_CERTS: proxy.certificate,
  };
  const check = (more: Record<string, string> = {}) =>
    diagnoseByCommand('address', { ...publicEnv, ...more }, { args: [backups] });
  const start = 'start the web process and the proxy in front of it, or export BASE_URL=https://…';
  const warning = (text: string) => ({
    code: WARNING,
    lines: [`warn  address        ${proxy.url}/readyz ${text}: ${start}`],
  });
  t.match(await check(), { code: 0, lines: [`A web process is ready at ${proxy.url}`] });
  t.match((await check({ NODE_EXTRA_CA_CERTS: '' })).lines, [
    /^warn {2}address .*\/readyz does not answer \(self-signed certificate.*\): start the web process/,
  ]);
  await runSql(server, `UPDATE schema_migrations SET name = 'x' || name`, url);
  t.match((await check()).lines, warning('answers 503').lines);
  await runSql(server, 'UPDATE schema_migrations SET name = substr(name, 2)', url);
  const foreign = createServer((_, response) => response.end('Welcome'));
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  t.teardown(() => foreign.close());
  proxy.aim(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}`);
  t.match(await check(), warning('is not answered by a web process of this service'));
  proxy.aim('http://127.0.0.1:1');
  t.match((await check()).lines, [/^warn {2}address .*\/readyz does not answer \(/]);
  t.match(await diagnose('address', env), { lines: [/^ok .* Only this machine can reach http:/] });
});

t.test('warns if localhost leads elsewhere than the service listens', async (t) => {
  const config = readConfig({ BASE_URL: 'http://localhost:3000' });
  const check = (addresses: string[]) =>
    checkAddress(config, (baseUrl, host) => whyElsewhere(baseUrl, host, async () => addresses));
  const text = 'http://localhost:3000: localhost is not 127.0.0.1 on this machine';
  t.same(await check(['::1']), [{ level: 'warn', text, command: 'set HOST=::1' }]);
});

t.test('finds a log that was restored without a new epoch', async (t) => {
  const { env, ownerEnv, backups } = await createHealthy(t, server);
  // As `pg_dump` carries it to another server.
  await runSql(server, `UPDATE log_epochs SET server = '1/00000001'`, env.DATABASE_URL);
  t.match(await diagnose('log', env, { args: [backups] }), {
    code: BAD,
    lines: [/^bad {3}log .*another server.*: npm run restored, or npm run restored -- --nothing-l/],
  });
  t.match(await runCli(['cli/restored.ts'], ownerEnv), { code: 0 });
  t.match(await diagnose('log', env, { args: [backups] }), { code: 0, lines: [/^ok /] });
});

t.test('finds server keys that the data needs and the service lacks', async (t) => {
  const { env, url, backups } = await createHealthy(t, server);
  const service = await startServiceOn(t, url, env);
  await newAgent(service);
  const check = (more: Record<string, string>) =>
    diagnose('keys', { ...env, ...more }, { args: [backups] });
  t.match(await check({}), { code: 0, lines: [/every server key .* the newest is 1$/] });
  const printed =
    'put it back into SERVER_KEYS, for example from npm run restore -- FOLDER --print-';
  t.match(await check({ SERVER_KEYS: `1:${newKey()}` }), {
    code: BAD,
    lines: [`another secret for key 1 than this database was used with: ${printed}`],
  });
  t.match(await check({ SERVER_KEYS: `2:${newKey()}` }), {
    code: BAD,
    lines: [`SERVER_KEYS lacks key 1, which verifiers, handles need: ${printed}`],
  });
  t.match(await check({ SERVER_KEYS: '' }), {
    code: BAD,
    lines: [`with the server key is missing: ${printed}`],
  });

  const args = ['cli/restore.ts', join(backups, 'first'), '--print-keys'];
  const { stdout } = await runCli(args, env);
  mkdirSync(env.DATA_DIR, { mode: 0o700 });
  const file = join(env.DATA_DIR, 'server-keys');
  writeFileSync(file, stdout);
  chmodSync(file, 0o644);
  t.match(await check({ SERVER_KEYS: '' }), {
    code: WARNING,
    lines: [`Other accounts of this machine can read or change ${file}: chmod 600 ${file}`],
  });
  chmodSync(file, 0o600);
  t.match(await check({ SERVER_KEYS: '' }), { code: 0, lines: [/^ok /] });
  for (const [name, settings] of [
    ['SERVER_KEYS_FILE', { SERVER_KEYS: '', SERVER_KEYS_FILE: file }],
    ['BACKUP_PASSPHRASE_FILE', { BACKUP_PASSPHRASE_FILE: file }],
  ] as const) {
    chmodSync(file, 0o666);
    t.match((await check(settings)).lines, [`can read or change ${file}: chmod 600 ${file}`], name);
    chmodSync(file, 0o440);
    t.match(await check(settings), { code: 0, lines: [/^ok /] }, 'a group may read it');
  }
});

t.test('creates no server key', async (t) => {
  const { env, backups } = await createHealthy(t, server);
  mkdirSync(env.DATA_DIR);
  const again = { ...env, SERVER_KEYS: '' };
  for (let turn = 0; turn < 2; turn++)
    t.match(await diagnose('keys', again, { args: [backups] }), {
      lines: ['ok    keys           The first start creates a server key'],
    });
});

t.test('finds backups that are missing, damaged or too old', async (t) => {
  const { env, backups, folder } = await createHealthy(t, server);
  const check = (...args: string[]) => diagnose('backup', env, { args });
  t.match(await check(), {
    code: WARNING,
    lines: [/No backup is known.*: npm run backup -- FOLDER, then npm run doctor -- FOLDER$/],
  });
  const none = join(folder, 'none');
  const missing = await check(none);
  t.match(missing, {
    code: BAD,
    lines: [
      /^bad {3}backup {9}\S+none holds no complete backup: npm run backup -- \S+none\/\S{15}$/,
    ],
  });
  const command = missing.lines[0]?.split(': ')[1] ?? '';
  t.match(await runCli(command.replace('npm run backup --', 'cli/backup.ts').split(' '), env), {
    code: 0,
  });
  t.match(await check(none), { code: 0, lines: [/ is 0\.0 hours old$/] });

  const first = join(backups, 'first');
  t.match(await check(first), { code: 0 }, 'a folder may be the backup itself');
  const manifest = readManifest(first);
  for (const file of ['manifest.json', 'manifest.sha256', 'manifest.seal'])
    rmSync(join(first, file));
  const takenAt = new Date(Date.now() - 27 * 3_600_000).toISOString();
  writeManifest(first, { ...manifest, taken_at: takenAt }, env.BACKUP_PASSPHRASE);
  t.match(await check(backups), {
    code: WARNING,
    lines: [/^warn {2}backup .*first, is 27\.0 hours old: npm run backup -- /],
  });
  const [today] = [join(none, command.split('/').at(-1) ?? '')];
  renameSync(today, join(backups, 'second'));
  t.match(await check(backups), { code: 0, lines: [/second, is 0\.0 hours old$/] });
  writeFileSync(join(backups, 'second', 'manifest.sha256'), '');
  t.match(await check(backups), {
    code: BAD,
    lines: [
      /^bad .*second is no backup \(The backup is damaged: .*\): npm run backup -- .* && rm -r \S+second$/,
      /^warn .*first, is 27\.0 hours old: /,
    ],
  });
});

t.test('warns of a disk that fills up', async (t) => {
  const { env, backups } = await createHealthy(t, server);
  mkdirSync(env.DATA_DIR);
  const fill = (freeGib: number) =>
    `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
     fs.statfsSync = () => ({ bsize: 2 ** 20, blocks: 200 * 1024, bavail: ${freeGib} * 1024 });
     syncBuiltinESMExports();`;
  const check = (freeGib: number) =>
    diagnoseByCommand('disk', env, { args: [backups], imports: [fill(freeGib)] });
  t.match(await check(21), {
    code: 0,
    stderr: '',
    lines: [/^ok .* 21\.0 GiB \(10 %\) of the disk of /],
  });
  t.match(await check(9), {
    code: WARNING,
    stderr: '',
    lines: [/^warn .* 9\.0 GiB .*: du -x -d 2 .* tail$/],
  });
  t.match(await check(0.5), { code: BAD, stderr: '', lines: [/^bad .* 0\.5 GiB \(0 %\) /] });
});
