import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { addModerator, submit } from '../../harness/moderation.ts';
import { newKey, signedIn } from '../../harness/registration.ts';
import { matchAll } from '../support/match-all.ts';
import { clientEnv, operatorEnv, runModeratorCommand } from '../support/moderator-command.ts';
import { startService } from '../support/service.ts';

t.test('prints a rotated token once, on the last line', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const env = operatorEnv(service);
  const rotated = await runModeratorCommand(env, ['rotate', 'Ann']);
  t.equal(rotated.code, 0);
  const lines = rotated.stdout.trimEnd().split('\n');
  const token = lines.at(-1) ?? '';
  t.match(token, /^mod_[0-9a-f-]{36}\.[0-9a-f]{64}$/);
  t.equal(rotated.stdout.split(token).length, 2, 'the token is printed once');
  t.equal((await ann.get('me')).status, 401);
  const headers = { authorization: `Bearer ${token}` };
  t.equal((await service.call('GET', '/api/moderation/me', { headers })).status, 200);
  const listed = await runModeratorCommand(env, ['list']);
  t.notMatch(listed.stdout, token.split('.')[1]);
  t.equal((await runModeratorCommand(env, ['rotate', 'Nobody'])).code, 1);
  t.match(await runModeratorCommand(env, ['rotate']), {
    code: 2,
    stderr: /^An argument is missing\.\nUsage: /,
  });
  t.match(await runModeratorCommand(env, ['rotate', 'Ann', '--wrong']), {
    code: 2,
    stderr: /^Unknown option '--wrong'\.\nUsage: .* rotate NAME\|ID\n$/,
  });
});

t.test('reports unknown commands, wrong tokens and unreachable services', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (const args of [[], ['dance'], ['constructor']]) {
    const { code, stderr } = await runModeratorCommand({}, args);
    t.equal(code, 2);
    t.match(
      stderr,
      /^(A command is missing|Unknown command '\w+')\.\nUsage:[\s\S]*npm run moderator -- audit/,
    );
  }
  const nobody = await runModeratorCommand({ BASE_URL: service.baseUrl }, ['queue']);
  t.match(nobody, { code: 1, stderr: /MODERATOR_TOKEN/ });
  const wrong = await runModeratorCommand(
    clientEnv(service, `mod_${randomUUID()}.${'0'.repeat(64)}`),
    ['queue'],
  );
  t.match(wrong, { code: 1, stderr: /^moderator_required: / });
  const away = await runModeratorCommand(
    { BASE_URL: 'http://localhost:1', MODERATOR_TOKEN: ann.token },
    ['stats'],
  );
  t.match(away, { code: 1, stderr: /does not answer/ });
  const open = await runModeratorCommand(
    { BASE_URL: 'http://example.org', MODERATOR_TOKEN: ann.token },
    ['stats'],
  );
  t.match(open, { code: 1, stderr: /BASE_URL must be https/ });
  for (const { stdout, stderr } of [wrong, away, open]) t.notMatch(stdout + stderr, ann.token);
});

t.test('prints the usage with --help', async (t) => {
  const all = await runModeratorCommand({}, ['--help']);
  t.match(all, { code: 0, stderr: '', stdout: /npm run moderator -- audit/ });
  const one = await runModeratorCommand({}, ['add', '--help']);
  t.match(one, { code: 0, stderr: '', stdout: /^Usage: npm run moderator -- add NAME --role / });
});

t.test('reports an unreachable database in one line', async (t) => {
  const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', SERVER_KEYS: `1:${newKey()}` };
  for (const args of [['list'], ['add', 'Ann', '--role', 'lead'], ['rotate', 'Ann']]) {
    const { code, stderr } = await runModeratorCommand(env, args);
    t.equal(code, 1);
    t.match(stderr, /^[^\n]*ECONNREFUSED[^\n]*\n$/);
  }
  const rebuild = spawn(process.execPath, ['cli/rebuild.ts'], {
    env: { ...INHERITED_ENV, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.match(await text(rebuild.stderr), /^[^\n]*ECONNREFUSED[^\n]*\n$/);
});

t.test('ends an audit silently when its reader closes', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const audit = spawn(process.execPath, ['cli/moderator.ts', 'audit'], {
    env: { ...INHERITED_ENV, ...clientEnv(service, ann.token), PORT: ' 4125 ' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  audit.stdout.destroy();
  t.equal(await text(audit.stderr), '');
});

t.test('prints statistics and audit of the service', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  const env = clientEnv(service, ann.token);
  await runModeratorCommand(env, ['approve', note.id]);
  const stats = await runModeratorCommand(env, ['stats']);
  t.equal(stats.code, 0);
  t.match(stats.stdout, /Decided +1 \(1 approved, 0 rejected, 0 removed\)/);
  t.match(stats.stdout, /By +Ann \(moderator\): 1, 0 overturned/);
  t.match(await runModeratorCommand(env, ['stats', '--from', '2020-01-01', '--to', '2021-01-01']), {
    code: 1,
    stderr: /^invalid_request: .*92 days/,
  });
  const audit = await runModeratorCommand(env, ['audit']);
  t.equal(audit.code, 0);
  const entries = audit.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  matchAll(t, entries, [
    { type: 'ModeratorAdded' },
    { type: 'NoteApproved', actor: { name: 'Ann' }, subject: { id: note.id } },
  ]);
});

t.test('disables and enables a membership as the operator', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const env = { ...operatorEnv(service), UNDO_WINDOW_SECONDS: '0' };
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const member = await signedIn(service);
  const run = (...args: string[]) => runModeratorCommand(env, args);
  const until = '2099-01-01T00:00:00Z';
  t.match(await run('disable', member.handle, '--policy', 'spam', '--until', until), {
    code: 0,
    stdout: `Disabled ${member.handle} (${member.id}) until 2099-01-01T00:00:00.000Z\n`,
  });
  const { cookie } = member;
  t.equal((await service.call('GET', '/api/membership/me', { cookie })).status, 401);
  t.match(await run('disable', member.handle, '--policy', 'spam'), {
    code: 1,
    stderr: `${member.handle} is disabled already.\n`,
  });
  const audit = await auditor.get(`audit?subject=${member.id}`);
  t.match(audit.body.entries, [
    {
      type: 'MemberDisabled',
      actor: { type: 'operator' },
      subject: { type: 'member', id: member.id },
      data: { policy: 'spam', until: '2099-01-01T00:00:00.000Z' },
    },
  ]);
  t.strictSame(audit.body.entries[0].actor, { type: 'operator' });
  const appeal = { id: member.id, sign_in_key: member.sign_in_key, text: 'It was\na joke.' };
  const appealed = await service.call('POST', '/api/membership/disabled/appeal', { body: appeal });
  t.equal(appealed.status, 202, appealed.text);
  const { stdout } = await run('appeals');
  t.same(stdout.replace(/^\S+/, '').split('\t'), [
    '',
    member.handle,
    'spam',
    'operator',
    'It was␊a joke.\n',
  ]);
  t.match(await run('enable', member.handle), {
    code: 0,
    stdout: `Enabled ${member.handle} (${member.id})\n`,
  });
  t.equal((await run('appeals')).stdout, '', 'lifting the disabling grants the appeal');
  for (const [args, line] of [
    [['enable', member.handle], `${member.handle} is not disabled.`],
    [['disable', 'nobody_here', '--policy', 'spam'], 'There is no member nobody_here.'],
    [
      ['disable', member.handle, '--policy', 'none'],
      '--policy must be the code of an active policy.',
    ],
    [
      ['disable', member.handle, '--policy', 'spam', '--until', '2020-01-01T00:00:00Z'],
      '--until must be in the future.',
    ],
  ] as const)
    t.match(await run(...args), { code: 1, stderr: `${line}\n` });
  for (const args of [
    ['disable', member.handle],
    ['disable', '--policy', 'spam'],
    ['disable', member.handle, '--policy', 'spam', '--until', 'tomorrow'],
  ])
    t.equal((await run(...args)).code, 2, args.join(' '));
});
