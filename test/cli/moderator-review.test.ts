import { randomUUID } from 'node:crypto';
import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { clientEnv, runModeratorCommand } from '../support/moderator-command.ts';
import { startService } from '../support/service.ts';

const ESC = '\u001b';
const EVIL = `${ESC}]0;owned\u0007${ESC}[2J\u009b31mred\rover\u202eesrever\u200b\u2066x\u{e0041}\nsecond\tline`;
const COMMANDING = /(?!\n)[\p{Cc}\p{Cf}]/u;

t.test('shows a note without control characters for the terminal', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { name: 'Eve\u202e', message: 'Harmless' });
  // The API refuses control characters; the command shows those in storage as visible marks.
  await service.tamper('UPDATE notes SET message = $2, name = $3 WHERE note_id = $1', [
    note.id,
    EVIL,
    `Eve${ESC}[31m\u202e`,
  ]);
  for (const [args, typed] of [[['queue']], [['next'], ['q']]] as [string[], string[]?][]) {
    const { code, stdout } = await runModeratorCommand(clientEnv(service, ann.token), args, typed);
    t.equal(code, 0);
    t.notMatch(stdout, COMMANDING);
    t.match(stdout, '␛]0;owned␇␛[2J<U+009B>31mred␍over<U+202E>esrever<U+200B><U+2066>x<U+E0041>');
    t.match(stdout, 'Eve␛[31m<U+202E>');
    if (args[0] === 'next') t.match(stdout, '\n  | second    line\n', 'each line has a bar');
  }
});

t.test('shows notes one by one and executes the typed commands', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const [first, second, third] = [
    await submit(service, { message: 'First' }),
    await submit(service, { message: 'Second' }),
    await submit(service, { message: 'Third' }),
  ];
  const typed = ['?', 'a', 'u', 'r 1 No advertising here', 'a', 'q'];
  const { code, stdout, stderr } = await runModeratorCommand(
    clientEnv(service, ann.token),
    ['next'],
    typed,
  );
  t.equal(code, 0, stderr);
  t.match(
    stdout,
    /First[\s\S]*1 spam[\s\S]*approved[\s\S]*Second[\s\S]*Undone[\s\S]*rejected: spam/,
  );
  const { rows } = await service.database.pool.query(
    `SELECT type, data->>'note_id' AS id, personal->>'message' AS message FROM events
     WHERE actor->>'type' = 'moderator' ORDER BY position`,
  );
  t.same(rows, [
    { type: 'NoteApproved', id: first.id, message: null },
    { type: 'DecisionUndone', id: first.id, message: null },
    { type: 'NoteRejected', id: second.id, message: 'No advertising here' },
    { type: 'NoteApproved', id: first.id, message: null },
  ]);
  t.match(stdout, third.message);
  t.same((await ann.get('me')).body.leases, [], 'quitting releases the note');
  const cut = await runModeratorCommand(clientEnv(service, ann.token), ['next'], []);
  t.equal(cut.code, 0, 'the end of input quits');
  t.same((await ann.get('me')).body.leases, []);
  await runModeratorCommand(clientEnv(service, ann.token), ['next'], ['a']);
  const clear = await runModeratorCommand(clientEnv(service, ann.token), ['next']);
  t.match(clear, { code: 0, stdout: 'The queue is clear.\n' });
});

t.test('claims a pending note for a single decision', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const [approvable, rejectable, claimed] = [
    await submit(service),
    await submit(service),
    await submit(service),
  ];
  await bob.post('claims', { note_ids: [claimed.id] });
  const env = clientEnv(service, ann.token);
  const approved = await runModeratorCommand(env, ['approve', approvable.id]);
  t.match(approved, { code: 0, stdout: `${approvable.id} is approved, may be undone until 20` });
  const none = await runModeratorCommand(env, ['reject', rejectable.id]);
  t.match(none, { code: 2, stderr: /^A policy is missing/ });
  const unknown = await runModeratorCommand(env, ['reject', rejectable.id, '--policy', 'taste']);
  t.match(unknown, { code: 1, stderr: /^invalid_request: .*policy/ });
  t.same((await ann.get('me')).body.leases, [], 'the claim was released');
  const rejected = await runModeratorCommand(env, [
    'reject',
    rejectable.id,
    '--policy',
    'spam',
    '--message',
    'No.',
  ]);
  t.match(rejected, { code: 0, stdout: /is rejected/ });
  const lost = await runModeratorCommand(env, ['approve', claimed.id]);
  t.match(lost, { code: 1, stderr: /^state_conflict: .*\(claimed_by_other, by Bob\)/ });
  const late = await runModeratorCommand(env, ['approve', approvable.id]);
  t.match(late, { code: 1, stderr: /wrong_state.*now approved/ });
  t.match(await runModeratorCommand(env, ['approve', 'nonsense']), {
    code: 1,
    stderr: /^invalid_request/,
  });
  t.match(await runModeratorCommand(env, ['approve', approvable.id, '--policy', 'spam']), {
    code: 2,
  });
  t.match(await runModeratorCommand(env, ['restore', randomUUID()]), {
    code: 1,
    stderr: /^not_found/,
  });
});
