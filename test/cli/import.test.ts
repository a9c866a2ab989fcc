import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { screenNotes } from '../../workers/screening/screen-note.ts';
import { importer, remark42, remarkComment } from '../support/import-command.ts';
import { holdDeletes, holdInserts } from '../support/meanwhile.ts';
import { startService } from '../support/service.ts';

const EXPORTS = join(import.meta.dirname, 'exports');
const SOURCE_SECRETS = /example\.org|127\.0\.0|ann\.example|ffffffff|github_/;

/** The database that isso 0.14.0 has made of comments over its API. */
function issoDatabase(path: string): string {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  database.exec(readFileSync(join(EXPORTS, 'isso.sql'), 'utf8'));
  database.close();
  return path;
}

t.test('imports the database of isso as notes that wait for review, once', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const command = importer(t, service);
  const file = issoDatabase(join(command.folder, 'comments.db'));

  const dry = await command.run('--from', 'isso', file, '--dry-run');
  t.match(dry, { code: 0, stderr: '' });
  t.match(dry.counts, { 'waiting for review': 7, shortened: 2, refused: 1 });
  t.same((await pool.query('SELECT FROM events')).rows.length, 0, 'a dry run writes nothing');

  const first = await command.run('--from', 'isso', file);
  t.match(first, { code: 0, stderr: `To undo it: npm run import -- --undo ${dry.id}\n` });
  t.same(first.counts, dry.counts);
  t.same(first.changes, [
    ['shortened', '5', 'name'],
    ['shortened', '6', 'text'],
    ['refused', '7', 'it is deleted in the source'],
    ['moved', '8', 'what it replies to is not imported; now a comment without a parent'],
  ]);
  const { rows: notes } = await pool.query(
    `SELECT n.name, n.message, n.state, n.written_at, p.name AS parent FROM notes n
      LEFT JOIN notes p ON p.note_id = n.parent_id ORDER BY n.submitted_at, n.note_id`,
  );
  t.match(notes, [
    { name: 'Ann', message: 'First! **bold** and a [link](https://example.org)', parent: null },
    { name: 'Bob', message: 'A reply', parent: 'Ann' },
    { name: 'Cleo', message: 'A reply to the reply\n\nwith two paragraphs', parent: 'Ann' },
    { name: '', message: 'On another page, without a name' },
    { name: /^\u202eevilname that is much longer/, message: 'Right to left \u202e override' },
    { name: 'Dan', message: /^(long )+long…$/ },
    { name: 'Finn', message: 'An answer to a deleted comment', parent: null },
  ]);
  t.ok(notes.every(({ state }) => state === 'pending'));
  t.equal(notes[0].written_at.toISOString(), '2026-11-28T17:46:49.623Z');
  const { rows: log } = await pool.query(
    `SELECT *, recorded_at - (data->'imported'->>'written_at')::timestamptz AS since FROM events`,
  );
  t.ok(log.every(({ actor }) => actor.type === 'operator'));
  const stored = JSON.stringify([log, notes]).replaceAll('https://example.org', '');
  t.notMatch(stored, SOURCE_SECRETS, 'neither addresses of mail nor of the network');

  const again = await command.run('--from', 'isso', file);
  t.match(again, { code: 0, id: first.id, counts: { 'imported before': 7 } });
  t.equal((await pool.query('SELECT FROM notes')).rows.length, 7);

  const page = await command.run('--from', 'isso', file, '--thread', '/other/', '--site', 'two');
  t.match(page, { code: 0, counts: { 'waiting for review': 1, 'imported before': 0 } });
  t.not(page.id, first.id);
  t.match((await command.run('--list')).stdout.split('\n').length, 3);
});

t.test('publishes what the source showed if a moderator has reviewed it', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const command = importer(t, service);
  const grace = await addModerator(service, 'grace');
  await addModerator(service, 'eve', 'triage');
  const own = await submit(service, { message: 'Of this service' });
  await grace.post(`notes/${own.id}/decisions`, { action: 'approve', expected_version: 1 });
  const file = command.file(
    gzipSync(
      remark42([
        remarkComment('a', { time: '2020-03-01T12:00:00Z' }),
        remarkComment('b', { time: '2021-03-01T12:00:00Z' }),
        remarkComment('r', { pid: 'a', time: '2020-03-02T12:00:00Z', user: { name: 'R &amp; S' } }),
        remarkComment('rr', { pid: 'r', time: '2020-03-03T12:00:00Z' }),
        remarkComment('gone', { delete: true, text: '', orig: '' }),
      ]),
    ),
  );
  for (const [name, reason] of [
    ['mallory', /no active moderator called mallory/],
    ['eve', /eve may not approve notes: the role is triage/],
  ] as const) {
    const refused = await command.run('--from', 'remark42', file, '--reviewed-by', name);
    t.match(refused, { code: 1, stdout: '', stderr: reason });
  }

  const { code, counts, changes, id } = await command.run(
    ...['--from', 'remark42', file, '--reviewed-by', 'grace'],
  );
  t.match({ code, counts }, { code: 0, counts: { 'published as reviewed': 4, refused: 1 } });
  t.same(changes.at(-1), [
    ...['moved', 'rr', 'a reply to a reply; now a reply to the first comment of the thread'],
  ]);
  const { body } = await service.call('GET', '/api/guestbook');
  t.match(
    body.entries.map((entry: { message: string; created_at: number }) => [
      entry.message,
      new Date(entry.created_at * 1000).toISOString().slice(0, 10),
    ]),
    [
      ['Comment b', '2021-03-01'],
      ['Comment a', '2020-03-01'],
      ['Of this service', new Date().toISOString().slice(0, 4)],
    ],
    'newest approval first, and of one batch the newest comment first',
  );
  const parent = body.entries[1].id;
  const replies = await service.call('GET', `/api/guestbook?parent_id=${parent}`);
  t.match(replies.body.entries, [
    { name: 'Author rr', message: 'Comment rr' },
    { name: 'R & S', message: 'Comment r', created_at: Date.parse('2020-03-02T12:00:00Z') / 1000 },
  ]);
  const { rows } = await pool.query(
    `SELECT data, actor FROM events WHERE type = 'NoteApproved' AND actor->>'type' = 'operator'`,
  );
  t.equal(rows.length, 4);
  t.ok(rows.every(({ data }) => data.reviewed_by === grace.id));
  const activity = await service.call('GET', '/api/v1/activity');
  t.match(activity.body.entries[0], { type: 'note.approved', actor: { type: 'service' } });
  t.equal((await service.call('GET', `/notes/${parent}`)).status, 200);
  t.equal((await service.call('GET', '/feed.atom')).status < 500, true);
  const figures = await pool.query('SELECT age FROM decision_figures WHERE moderator_id IS NULL');
  t.ok(
    figures.rows.every(({ age }) => age === null),
    'figures of waiting leave imports out',
  );

  // Neither the author of an id nor another guest can take the id of an imported note, or learn of it.
  const taken = await service.call('POST', '/api/guestbook', {
    body: { id: parent, message: 'Mine' },
  });
  t.match(taken, { status: 409, body: { error: { code: 'submission_conflict' } } });

  // The approval is a decision like others: a lead undoes it.
  const lead = await addModerator(service, 'lea', 'lead');
  const { item } = (await lead.get(`notes/${body.entries[0].id}`)).body;
  t.match(item.decision, { decision: 'approved', moderator: null, undo_allowed: true });
  const undo = await lead.post(`decisions/${item.decision.event_id}/undo`, {
    expected_version: item.version,
  });
  t.match(undo, { status: 201, body: { state: 'pending' } });
  t.equal((await service.call('GET', `/api/guestbook/${item.id}`)).status, 404);

  const member = await signedIn(service);
  const reported = await service.call('POST', `/api/guestbook/${parent}/report`, {
    body: { reason: 'spam' },
    cookie: member.cookie,
  });
  t.equal(reported.status, 202);
  const undone = await command.run('--undo', id);
  t.match(undone, { code: 0, stdout: 'Withdrew and erased 4 notes\n' });
  t.match((await service.call('GET', '/api/guestbook')).body.entries, [
    { message: 'Of this service' },
  ]);
  const { rows: words } = await pool.query(
    `SELECT 1 FROM events WHERE personal::text LIKE '%Comment%' UNION ALL
      SELECT 1 FROM notes WHERE message LIKE 'Comment%' OR name LIKE 'Author%'`,
  );
  t.same(words, [], 'no words of the import are left');
  t.match(await command.run('--undo', id), { code: 1, stderr: /No note of import/ });
  const { rows: feed } = await pool.query(
    `SELECT type FROM feed WHERE member_id = $1 AND type = 'report.resolved'`,
    [member.id],
  );
  t.equal(feed.length, 1, 'who reported a note hears that it is gone');
  const back = await command.run('--from', 'remark42', file);
  t.match(back, { code: 0, id, counts: { 'waiting for review': 4 } });
});

t.test(
  'screens imported notes behind those of guests, and lets moderators decide on them',
  async (t) => {
    const service = await startService(t);
    const { pool } = service.database;
    const command = importer(t, service);
    const grace = await addModerator(service, 'grace');
    const file = command.file(
      remark42([
        remarkComment('a', { text: 'Buy at https://spam.example and https://spam.example/two' }),
        remarkComment('b', { pid: 'a' }),
      ]),
    );
    t.match(await command.run('--from', 'remark42', file), { code: 0 });
    const { rows: jobs } = await pool.query(
      `SELECT data, priority FROM pgboss.job WHERE name = 'screen-note'`,
    );
    t.match(jobs, [{ priority: 0 }]);
    t.equal(await screenNotes(service.core, jobs[0].data, service.logger), 2);
    const { items } = (await grace.get('queue')).body;
    t.match(items, [
      { screening: { findings: [{ code: 'links' }] }, allowed_actions: /./ },
      { parent: { id: items[0].id } },
    ]);
    const approve = (item: { id: string; version: number }) =>
      grace.post(`notes/${item.id}/decisions`, {
        action: 'approve',
        expected_version: item.version,
      });
    t.match(await approve(items[1]), {
      status: 409,
      body: { error: { reason: 'parent_not_public' } },
    });
    t.equal((await approve(items[0])).status, 201);
    t.equal((await approve(items[1])).status, 201);
    t.match((await service.call('GET', '/api/guestbook')).body.entries, [
      { created_at: Date.parse('2020-03-01T12:00:00Z') / 1000 },
    ]);
  },
);

t.test('adds nothing twice when runs are killed or meet', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const command = importer(t, service);
  const comments = Array.from({ length: 1500 }, (_, at) =>
    remarkComment(`c${at}`, { pid: at % 3 === 0 ? '' : `c${at - (at % 3)}` }),
  );
  const args = ['--from', 'remark42', command.file(remark42(comments))];
  const count = async () =>
    (await pool.query('SELECT count(*)::int AS notes FROM notes')).rows[0].notes;
  const held = await holdInserts(pool, 'notes', 'notes', 200);
  const killed = command.start(...args);
  await held.untilHeld();
  killed.child.kill('SIGKILL');
  t.same(await killed.ended, [null, 'SIGKILL']);
  await held.release();
  const left = await count();
  t.ok(left >= 200 && left < 1500 && left % 100 === 0, `${left} notes in whole batches`);

  const both = await Promise.all([command.run(...args), command.run(...args)]);
  t.same(
    both.map(({ code }) => code),
    [0, 0],
  );
  t.equal(await count(), 1500);
  // A batch that the killed process had sent may have been committed after its end.
  const added = both.reduce((sum, { counts }) => sum + (counts['waiting for review'] ?? 0), 0);
  t.ok(added <= 1500 - left, `${added} comments were added by one of the two`);
  const { rows } = await pool.query(
    `SELECT count(DISTINCT message)::int AS texts, count(parent_id)::int AS replies FROM notes`,
  );
  t.same(rows, [{ texts: 1500, replies: 1000 }]);

  const whole = async () =>
    (await pool.query('SELECT count(*)::int AS left FROM imported_notes')).rows[0].left;
  const heldUndo = await holdDeletes(pool, 'imported_notes', 1400);
  const undoing = command.start('--undo', both[0]?.id ?? '');
  await heldUndo.untilHeld();
  undoing.child.kill('SIGKILL');
  t.same(await undoing.ended, [null, 'SIGKILL']);
  await heldUndo.release();
  const kept = await whole();
  t.ok(kept > 0 && kept <= 1400 && kept % 25 === 0, `${kept} notes in whole batches`);
  t.match(await command.run('--undo', both[0]?.id ?? ''), { code: 0, stdout: /^Withdrew and/ });
  t.equal(await whole(), 0);
  t.same(
    (await pool.query('SELECT FROM notes WHERE message IS NOT NULL OR erased_at IS NULL')).rows,
    [],
  );
});

t.test(
  'takes another export of the same comments for the same, and adds what is new',
  async (t) => {
    const service = await startService(t);
    const { pool } = service.database;
    const command = importer(t, service);
    const run = (comments: readonly object[]) =>
      command.run('--from', 'remark42', command.file(remark42(comments)));
    const old = [remarkComment('a'), remarkComment('hidden')];
    const first = await run(old);
    const grace = await addModerator(service, 'grace');
    const { rows } = await pool.query(`SELECT note_id FROM notes WHERE message = 'Comment hidden'`);
    await grace.post(`notes/${rows[0].note_id}/decisions`, {
      ...{ action: 'reject', policy: 'spam', expected_version: 1 },
    });
    const later = [
      ...old,
      remarkComment('b', { pid: 'a' }),
      remarkComment('c', { pid: 'hidden' }),
      remarkComment('a'),
    ];
    const second = await run(later);
    t.not(second.id, first.id);
    t.match(second, {
      code: 0,
      counts: { 'waiting for review': 1, 'imported before': 2, refused: 2 },
      changes: [
        ['refused', 'a', 'its id is that of an earlier comment of the file'],
        ['refused', 'c', 'what it replies to is not shown here'],
      ],
    });
  },
);

t.test('refuses wrong arguments and damaged files, and writes nothing', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const command = importer(t, service);
  const file = command.file('{"version":1}\n{"id":"a"');
  for (const [args, code, message] of [
    [[], 2, /Give one of --from, --list and --undo/],
    [['--from', 'blogger', file], 2, /--from must be one of isso/],
    [['--from', 'isso'], 2, /--from takes one file/],
    [['--undo', 'x'], 2, /--undo needs the id/],
    [['--from', 'isso', file, '--experience', 'x'], 2, /--experience must be one of/],
    [['--from', 'isso', '/no/such\u001b[2Jfile'], 1, /Cannot read .*: ENOENT/],
    [['--from', 'remark42', file], 1, /a line is not valid JSON/],
  ] as const) {
    const said = await command.run(...args);
    t.match(said, { code, stderr: message }, args.join(' '));
    t.notMatch(said.stderr, '\u001b');
  }
  t.equal((await pool.query('SELECT FROM events')).rows.length, 0);
});
