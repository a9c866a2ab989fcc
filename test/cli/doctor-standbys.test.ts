import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { promote, type Server, startStandby } from '../../harness/standby.ts';
import { createHealthy, diagnose, runCli, runSql, startDurableServer } from '../support/doctor.ts';

// Each of many runs is a process of its own, and they share the machine with other tests.
t.setTimeout(900_000);

const WARNING = 1;
const BAD = 2;
const KEEPS_WAL = { wal_keep_size: '512MB', archive_mode: 'on' };

const primary = await startDurableServer(t, KEEPS_WAL);
const newStandby = (name: string) =>
  startStandby(primary, join(primary.folder, name), name, { wal_keep_size: '512MB' });

/** The same database and role on another server. */
function onServer({ url }: Server, given: string): string {
  const address = new URL(given);
  address.port = new URL(url).port;
  return address.href;
}

/** Changes a setting of the primary; resolves when new connections have it. */
async function setOnPrimary(name: string, value: string): Promise<void> {
  await runSql(primary, `ALTER SYSTEM SET ${name} = '${value}'; SELECT pg_reload_conf()`);
}

/** Diagnoses again until the only line matches, since a server needs a moment to follow. */
async function untilFound(t: Test, check: string, env: Record<string, string>, line: RegExp) {
  let lines: string[] = [];
  for (let turn = 0; turn < 50; turn++) {
    ({ lines } = await diagnose(check, env));
    if (lines.length === 1 && line.test(lines[0] ?? '')) return;
    await sleep(100);
  }
  t.match(lines, [line]);
}

t.test('finds synchronous standbys that are away or alone', async (t) => {
  const { env, backups } = await createHealthy(t, primary);
  const check = () => diagnose('standbys', env, { args: [backups] });
  t.match(await check(), { code: 0, lines: ['ok    standbys       No synchronous standby is'] });
  const one = await newStandby('one');
  t.teardown(one.stop);
  await setOnPrimary('synchronous_standby_names', 'one');
  t.match(await check(), {
    code: BAD,
    lines: [
      'bad   standbys       Standbys cannot be checked by this role: GRANT pg_monitor TO service',
    ],
  });
  await runSql(primary, 'GRANT pg_monitor TO service');
  await untilFound(
    t,
    'standbys',
    env,
    /^warn .*: ALTER SYSTEM SET synchronous_standby_names = 'ANY/,
  );
  t.equal((await check()).code, WARNING);

  const another = await newStandby('another');
  await setOnPrimary('synchronous_standby_names', 'ANY 1 (one, another)');
  await untilFound(t, 'standbys', env, /^ok .* 2 synchronous standbys .*, and commits wait for 1$/);
  await setOnPrimary('synchronous_standby_names', 'FIRST 1 (one, another)');
  await untilFound(t, 'standbys', env, /^ok .* 2 synchronous standbys .*, and commits wait for 1$/);

  await another.stop();
  await setOnPrimary('synchronous_standby_names', 'ANY 2 (one, another)');
  await untilFound(
    t,
    'standbys',
    env,
    /^bad .*Writes wait: 1 of 2 .*; start ANY 2 \(one, another\)/,
  );
  const { code, lines } = await check();
  t.equal(code, BAD);
  await runSql(primary, /: (ALTER SYSTEM .*)$/.exec(lines[0] ?? '')?.[1] ?? '');
  await untilFound(t, 'standbys', env, /^ok .*No synchronous standby is named$/);
});

t.test('finds a replica that lags or does not answer', async (t) => {
  const { env, backups } = await createHealthy(t, primary);
  const replica = await newStandby('replica');
  t.teardown(replica.stop);
  const both = {
    ...env,
    DATABASE_READ_URL: onServer(replica, env.DATABASE_URL),
    REPLICA_MAX_LAG_SECONDS: '1',
  };
  const check = () => diagnose('replica', both, { args: [backups] });
  await untilFound(t, 'replica', both, /^ok .*The replica \S+ lags by less than 1 s$/);
  await runSql(replica, 'SELECT pg_wal_replay_pause()');
  await runSql(primary, 'CREATE TABLE written ()');
  t.match(await check(), {
    code: WARNING,
    lines: [
      /^warn .*lags by more than 1 s.*: take it out of DATABASE_READ_URL until it has caught up$/,
    ],
  });
  await runSql(replica, 'SELECT pg_wal_replay_resume()');
  await untilFound(t, 'replica', both, /^ok /);
  t.equal((await check()).code, 0);
  both.DATABASE_READ_URL = onServer({ ...replica, url: 'http://127.0.0.1:1' }, env.DATABASE_URL);
  t.match(await check(), {
    code: WARNING,
    lines: [
      /^warn .*does not answer \(.*ECONNREFUSED.*: start the replica, or take it out of DATABASE_READ_/,
    ],
  });
});

t.test('finds an address that leads to a standby, and a promotion', async (t) => {
  const { env, ownerEnv, backups } = await createHealthy(t, primary);
  const standby = await newStandby('heir');
  t.teardown(standby.stop);
  const after = { ...env, DATABASE_URL: onServer(standby, env.DATABASE_URL) };
  await untilFound(t, 'database', after, /^bad .*leads to a standby.*, or SELECT pg_promote\(\)$/);
  await promote(standby);
  await untilFound(t, 'database', after, /^ok /);
  t.match(await diagnose('log', after, { args: [backups] }), {
    code: BAD,
    lines: [
      /^bad .*promoted or restored since .*\(timeline 00000002, not 00000001\).*: npm run restored, or/,
    ],
  });
  const asOwner = { ...after, DATABASE_URL: onServer(standby, ownerEnv.DATABASE_URL) };
  t.match(await runCli(['cli/restored.ts', '--nothing-lost'], asOwner), { code: 0 });
  t.match(await diagnose('log', after, { args: [backups] }), { code: 0, lines: [/^ok /] });
});

t.test('finds a server that fails to archive its WAL', async (t) => {
  const { env } = await createHealthy(t, primary);
  const command = /: ALTER SYSTEM SET archive_command = '…'; SELECT pg_reload_conf\(\)$/;
  const check = () => diagnose('backup', env);
  t.match(await check(), { code: BAD, lines: [/^bad .*\(last archived: never\)/] });
  t.match((await check()).lines, [command]);
  await setOnPrimary('archive_command', 'true');
  await runSql(primary, 'SELECT pg_switch_wal()');
  await untilFound(t, 'backup', env, /^ok .*The server archives its WAL \(last archived: 20/);
  t.equal((await check()).code, 0);
  await setOnPrimary('archive_command', 'false');
  await runSql(primary, 'CREATE TABLE archived (); SELECT pg_switch_wal()');
  await untilFound(t, 'backup', env, /^bad .*fails to archive its WAL \(last archived: 20/);
});
