import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { SERVICE_OWNER } from '../../domain/owners.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { formatServerKeys } from '../../platform/keys/server-keys.ts';
import { eraseCommand } from '../../services/guestbook/scheduled-commands.ts';
import { testDatabase } from '../support/database.ts';
import { diagnose, runCli } from '../support/doctor.ts';
import { type Service, startService } from '../support/service.ts';

t.setTimeout(900_000);

/** What release 0.9.0 ran when a member with the id $1 was deleted, without its batches. */
const RELEASED_ERASURE = [
  `UPDATE events SET personal = NULL WHERE owner_id = $1::uuid AND personal IS NOT NULL
    AND (actor->>'type' <> 'member' OR actor->>'id' = $1::text)
    AND NOT (stream_id IN ('note-' || $1::text, 'screening-' || $1::text)
      AND (type = 'NoteSubmitted' OR actor->>'id' IS DISTINCT FROM $1::text))`,
  'DELETE FROM verifiers WHERE owner_id = $1',
  `UPDATE receipts SET reply = NULL, bound = NULL, body_hash = ''
    WHERE owner_id = $1::uuid AND (space <> 'note' OR key <> $1::uuid OR NOT EXISTS (
      SELECT FROM events WHERE owner_id = $1::uuid AND stream_id = 'note-' || $1::uuid
        AND stream_version = 1 AND actor->>'type' = 'guest'))`,
];

const policy = (code: string, text: string) => ({
  code,
  title: `Title of ${code}`,
  text,
  active: true,
  messages: [`Message of ${code}`],
});

/** A service whose log lost words of its policies, of moderators and of a guest's note. */
async function startDamaged(t: Test) {
  const service = await startService(t);
  const { pool } = service.database;
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const headers = { authorization: `Bearer ${lea.token}` };
  const change = (body: object) =>
    service.call('PUT', '/api/moderation/policies', { headers, body });
  for (const body of [policy('spam', 'One'), policy('house', 'One'), policy('house', 'Two')])
    if ((await change(body)).status !== 200) throw new Error('the policy was refused');
  const notes = [await submit(service), await submit(service)];
  for (const { id } of notes) await ann.post(`subjects/note/${id}/comments`, { text: 'Again him' });
  const [kept, erased] = notes.map(({ id }) => id) as [string, string];
  const gone = await ann.post(`subjects/note/${kept}/comments`, { text: 'A slip' });
  const comment = `/api/moderation/subjects/note/${kept}/comments/${gone.body.event_id}/delete`;
  const deleted = await service.call('POST', comment, { headers, body: {} });
  if (deleted.status !== 200) throw new Error(deleted.text);
  const key = { authorization: `Bearer ${ann.token}`, 'idempotency-key': randomUUID() };
  const claim = { headers: key, body: { note_ids: [kept] } };
  await service.call('POST', '/api/moderation/claims', claim);
  await decide(ann, erased, 'reject');
  const row = { note_id: erased, owner_id: erased, member_id: null };
  await handle(service.core.store, SERVICE_ACTOR, eraseCommand(row, 'retention'));
  for (const id of [SERVICE_OWNER.id, ann.id, kept, erased])
    for (const statement of RELEASED_ERASURE) await pool.query(statement, [id]);
  const { rows } = await pool.query<{ position: string; type: string; stream: string }>(
    `SELECT position, type, stream_version || ' of ' || stream_id AS stream FROM events
      WHERE type = 'PolicyChanged' OR (type = 'ModeratorAdded' AND owner_id = $1)
        OR (type = 'CommentAdded' AND owner_id = $2 AND event_id <> $3) ORDER BY position`,
    [ann.id, kept, gone.body.event_id],
  );
  const lost = rows.map(
    ({ position, type, stream }) =>
      `The log has lost the words of ${type} at position ${position}, version ${stream}`,
  );
  t.equal(lost.length, 5);
  return { service, ann, lea, lost };
}

const envOf = ({ core, database }: Service) => ({
  DATABASE_URL: database.url,
  SERVER_KEYS: formatServerKeys(core.config.serverKeys ?? []),
  BACKUP_PASSPHRASE: 'correct horse battery',
});

t.test('names the words that a damaged log has lost, and keeps them where it can', async (t) => {
  const { service, ann, lost } = await startDamaged(t);
  await service.tamper('SELECT 1');
  const env = envOf(service);
  const folder = temporaryFolder('lost-words');
  t.teardown(folder.remove);
  const expected = lost.map(
    (text) => `warn  words          ${text}: what can be done is in docs/operating/lost-words.md`,
  );
  t.same((await diagnose('words', env)).lines, [
    ...expected,
    `warn  words          The active moderator ${ann.id} has no token: npm run moderator -- rotate ${ann.id}`,
    `warn  words          1 receipts of the moderator ${ann.id} are empty: what can be done is in docs/operating/lost-words.md`,
  ]);
  const backup = join(folder.path, 'backup');
  t.match(await runCli(['cli/backup.ts', backup], env), { code: 0, stderr: '' });
  const verified = await runCli(['cli/verify.ts', backup], env);
  t.match(verified, { code: 0, stderr: '' });
  t.same(verified.stdout.trimEnd().split('\n').slice(1), lost);

  const { url, pool } = await testDatabase(t, { empty: true });
  const restored = { ...env, DATABASE_URL: url };
  t.match(await runCli(['cli/restore.ts', backup], restored), { code: 0, stderr: '' });
  const read = async () =>
    (await pool.query('SELECT * FROM policies, moderators ORDER BY code, moderator_id')).rows;
  const before = await read();
  const rebuilt = await runCli(['cli/rebuild.ts'], restored);
  t.match(rebuilt, { code: 0 });
  const kept = ['policy house', 'policy spam', `moderator ${ann.id}`];
  t.same(
    rebuilt.stdout.trimEnd().split('\n').slice(1).sort(),
    kept
      .map((owner) => `The log has lost the words of ${owner}; they are kept as they were`)
      .sort(),
  );
  t.same(await read(), before, 'policies and names are as they were');
  const { rows: words } = await pool.query(
    `SELECT count(*)::int FROM events WHERE type = 'PolicyChanged' AND personal IS NOT NULL`,
  );
  t.same(words, [{ count: 0 }], 'the log itself is not mended');
});

t.test('goes on without words that are in no read model either', async (t) => {
  const { service, ann, lea, lost } = await startDamaged(t);
  await service.tamper(`UPDATE policies SET title = NULL, text = NULL, messages = '{}'
    WHERE code IN ('house', 'spam')`);
  await service.tamper('UPDATE moderators SET name = NULL WHERE moderator_id = $1', [ann.id]);
  const env = envOf(service);
  const rebuilt = await runCli(['cli/rebuild.ts'], env);
  t.match(rebuilt, { code: 0, stdout: /^Rebuilt every read model from \d+ events in [\d.]+ s\n$/ });
  const { policies } = (await lea.get('policies')).body;
  t.match(policies.at(-1), { code: 'house', title: '', text: '', version: 2 });
  const headers = { authorization: `Bearer ${lea.token}` };
  const body = policy('house', 'Three');
  const saved = await service.call('PUT', '/api/moderation/policies', { headers, body });
  t.match(saved.body.policy, { ...body, version: 3 }, 'a lead writes the policy again');
  t.equal((await diagnose('words', env)).lines.length, lost.length + 2);
});
