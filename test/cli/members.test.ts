import t from 'tap';
import { newRegistration, signedIn } from '../../harness/registration.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { formatServerKeys } from '../../platform/keys/server-keys.ts';
import { deleteUnused } from '../../services/account/delete.ts';
import { accountClosures } from '../../services/features.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { runCli } from '../support/doctor.ts';
import { startService } from '../support/service.ts';

t.test('shows registrations that were never used, and deletes them', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const register = async () => {
    const body = newRegistration();
    const { status } = await service.call('POST', '/api/membership/register', { body });
    t.equal(status, 200);
    return body;
  };
  const unused = await register();
  const recent = await register();
  const late = await register();
  const used = await signedIn(service);
  // Only the read model is moved back, which the command asks for the time.
  await service.tamper(
    `UPDATE members SET registered_at = registered_at - interval '31 days' WHERE member_id <> $1`,
    [recent.id],
  );
  const env = {
    DATABASE_URL: service.database.url,
    SERVER_KEYS: formatServerKeys(service.core.config.serverKeys ?? []),
  };
  const run = (...args: string[]) => runCli(['cli/members.ts', 'unused', ...args], env);
  const preview = await run();
  t.same(
    preview.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t').slice(0, 2)),
    [unused, late].map(({ id, handle }) => [id, handle]),
  );
  t.match(preview, {
    code: 0,
    stderr: 'To delete these 2 accounts: npm run members -- unused --days 30 --remove 2\n',
  });
  t.match(await run('--days', '32'), { code: 0, stdout: '', stderr: '' });

  const { id, sign_in_key } = late;
  const login = () => service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal((await login()).status, 200);
  t.equal(
    await handle(service.core.store, SERVICE_ACTOR, deleteUnused(accountClosures, late.id)),
    false,
    'a member who signed in meanwhile stays',
  );
  t.match(await run('--remove', '2'), {
    code: 1,
    stdout: '',
    stderr: 'There are 1 such registrations, not 2: look at them again first\n',
  });
  t.match(await run('--remove', '1'), { code: 0, stdout: /^Deleted 1 accounts; / });

  const { rows: jobs } = await pool.query(
    `SELECT count(*)::int AS count FROM pgboss.job WHERE name = 'erase-member' AND data->>'member_id' = $1`,
    [unused.id],
  );
  t.same(jobs, [{ count: 1 }]);
  t.equal(await eraseMembers(service.core, { member_id: unused.id }), 1);
  const { rows } = await pool.query(
    'SELECT member_id, state FROM members WHERE erased_at IS NOT NULL',
  );
  t.same(rows, [{ member_id: unused.id, state: 'deactivated' }]);
  const taken = { ...newRegistration(), handle: unused.handle };
  const again = await service.call('POST', '/api/membership/register', { body: taken });
  t.match(again, { status: 409, body: { error: { code: 'registration_conflict' } } });
  t.equal((await login()).status, 200);
  t.match((await pool.query(`SELECT state FROM members WHERE member_id = $1`, [used.id])).rows, [
    { state: 'active' },
  ]);
});

t.test('refuses arguments that it does not know', async (t) => {
  for (const [args, sentence] of [
    [['idle'], "Unknown command 'idle'."],
    [['unused', '--days', '0'], '--days needs a number from 1 to 9999.'],
    [['unused', '--remove', 'all'], '--remove needs a number.'],
  ] as const)
    t.match(await runCli(['cli/members.ts', ...args], {}), {
      code: 2,
      stderr: new RegExp(`^${sentence}\n`),
    });
});
