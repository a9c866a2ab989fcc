import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Api } from '../../../harness/api.ts';
import { addModerator, decide, submit as submitNote } from '../../../harness/moderation.ts';
import { patient } from '../../../harness/patient.ts';
import { signedIn } from '../../../harness/registration.ts';
import { matchAll } from '../../support/match-all.ts';
import { keepRequestTime } from '../../support/request-time.ts';
import { startService } from '../../support/service.ts';

const submit = (service: Api, body: object, cookie?: string) =>
  service.call('POST', '/api/guestbook', { body, cookie });

t.test('keeps a note private while it waits for review and answers with a receipt', async (t) => {
  const service = await startService(t);
  const body = { id: randomUUID(), name: 'Ada', message: 'Grüße, שלום, 你好 👋' };
  const first = await submit(service, body);
  t.equal(first.status, 202);
  t.same(first.body, { status: 'pending_review', id: body.id });
  const again = await submit(service, { ...body, experience: 'service', attribution: 'guest' });
  t.equal(again.status, 200);
  t.same(again.body, { status: 'pending_review', id: body.id });
  const read = await service.call('GET', '/api/guestbook');
  t.same(read.body.entries, []);
  t.equal(read.body.limit, 30);
  const { rows } = await service.database.pool.query('SELECT personal FROM events');
  t.same(rows, [{ personal: { name: 'Ada', message: body.message } }]);
});

t.test('accepts an id for one submission only', async (t) => {
  const service = await startService(t);
  const body = { id: randomUUID(), message: 'One' };
  await submit(service, body);
  for (const other of [
    { ...body, message: 'Two' },
    { ...body, name: 'B' },
    { ...body, experience: 'observatory' },
  ]) {
    const answer = await submit(service, other);
    t.equal(answer.status, 409);
    t.equal(answer.body.status, 'submission_conflict');
  }
  const racing = { id: randomUUID(), message: 'Race' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => submit(patient(service), racing)),
  );
  t.equal(answers.filter(({ status }) => status === 202).length, 1);
  t.equal(answers.filter(({ status }) => status === 200).length, 9);
});

t.test("accepts a member's note only with that member's session", async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const other = await signedIn(service);
  const body = () => ({
    id: randomUUID(),
    message: 'Mine',
    attribution: 'member',
    member_handle: member.handle,
  });
  t.equal((await submit(service, body())).status, 401);
  t.equal((await submit(service, body(), other.cookie)).status, 401);
  t.equal((await submit(service, body(), member.cookie)).status, 202);
  const { rows } = await service.database.pool.query(
    `SELECT type FROM feed WHERE member_id = $1 ORDER BY sequence`,
    [member.id],
  );
  t.equal(rows.at(-1).type, 'note.submitted');
});

t.test('refuses an invalid body and names the field', async (t) => {
  const service = await startService(t);
  const validNote = { id: randomUUID(), message: 'Hello' };
  for (const [change, path] of [
    [{ message: ' \n ' }, 'message'],
    [{ message: 'x'.repeat(501) }, 'message'],
    [{ name: 'n'.repeat(41) }, 'name'],
    [{ website: 'https://spam.example' }, 'website'],
    [{ experience: 'other' }, 'experience'],
    [{ id: 'no' }, 'id'],
    [{ parent_id: 'no' }, 'parent_id'],
    [{ attribution: 'member' }, 'member_handle'],
  ] as const) {
    const answer = await submit(service, { ...validNote, ...change });
    t.equal(answer.status, 400);
    t.equal(answer.body.error.issues?.[0]?.path, path);
  }
  t.equal((await submit(service, { ...validNote, message: '👋'.repeat(500) })).status, 202);
});

t.test('requires visible characters in a message and replaces an invisible name', async (t) => {
  const service = await startService(t);
  const mod = await addModerator(service, 'Mod');
  const spaces = '\t\n \u00a0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000';
  const zeroWidth = '\u00ad\u180e\u200b\u200d\u2060\u2062\u2800\u3164\ufe0f\ufeff\u0301\u{e0041}';
  const invisible = [...spaces, ...zeroWidth, spaces + zeroWidth];
  for (const message of invisible) {
    const refused = await submit(service, { id: randomUUID(), message });
    t.equal(refused.status, 400, escape(message));
    const issues = [{ path: 'message', message: 'must have a visible character' }];
    matchAll(t, refused.body.error.issues, issues, escape(message));
  }
  const names = ['', ...invisible].map((name) => ({ name, message: 'Hello' }));
  const texts = [' \u200b.', 'e\u0301', '\u200d👋'].map((text) => ({
    name: text,
    message: text,
  }));
  const sent = [...texts, ...names].map((body) => ({ id: randomUUID() as string, ...body }));
  for (const body of sent) {
    t.equal((await submit(service, body)).status, 202, escape(body.name));
    t.equal((await decide(mod, body.id, 'approve')).status, 201);
  }
  const shown = (await service.call('GET', '/api/guestbook')).body.entries as typeof sent;
  t.same(
    shown.map(({ id, name, message }) => ({ id, name, message })).reverse(),
    sent.map((body, index) => ({ ...body, name: index < texts.length ? body.name : 'Guest' })),
  );
  const found = await service.call('POST', '/mcp', {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'search_public', arguments: { query: 'hello', kind: 'note' } },
    },
  });
  const { results } = found.body.result.structuredContent;
  t.same([...new Set(results.map(({ title }: { title: string }) => title))], ['Guest']);
});

t.test('accepts ten concurrent notes in ten minutes and counts each once', async (t) => {
  const service = await startService(t, { LIMIT_NOTES_PER_TEN_MINUTES: '10' });
  const bodies = Array.from({ length: 14 }, () => ({ id: randomUUID(), message: 'Hi' }));
  const answers = await Promise.all(bodies.map((body) => submit(patient(service), body)));
  t.equal(answers.filter(({ status }) => status === 202).length, 10);
  t.equal(answers.filter(({ status }) => status === 429).length, 4);
  const accepted = bodies[answers.findIndex(({ status }) => status === 202)] ?? {};
  t.equal((await submit(service, accepted)).status, 200);
});

t.test('answers an exact retry at no cost, also when the limit is used up', async (t) => {
  const service = await startService(t, { LIMIT_NOTES_PER_TEN_MINUTES: '2' });
  const [first, second, third] = ['One', 'Two', 'Three'].map((message) => ({
    id: randomUUID(),
    message,
  })) as [object, object, object];
  const status = async (body: object) => (await submit(service, body)).status;
  t.equal(await status(first), 202);
  for (let again = 0; again < 3; again++) t.equal(await status(first), 200);
  t.equal(await status({ ...first, message: 'Other' }), 409);
  t.equal(await status(second), 202);
  t.equal(await status(third), 429);
  t.equal(await status(first), 200);
  t.equal(await status({ ...first, message: 'Other' }), 409);
  const { rows } = await service.database.pool.query('SELECT kind, count FROM rate_counters');
  t.same(rows.map((row) => `${row.kind} ${row.count}`).sort(), [
    'guest-notes-service 2',
    'notes-10m 2',
    'notes-day 2',
  ]);
});

t.test('does not count a note that could not be stored', async (t) => {
  keepRequestTime(t);
  const service = await startService(t, { LIMIT_NOTES_PER_TEN_MINUTES: '1' });
  const { pool } = service.database;
  const countLimited = async () =>
    (await pool.query(`SELECT FROM rate_counters WHERE kind ~ '^notes' AND count > 0`)).rowCount;
  async function isGivenBack(): Promise<boolean> {
    for (let turn = 0; turn < 500; turn++) {
      if ((await countLimited()) === 0) return true;
      await sleep(20);
    }
    return false;
  }
  /** Submits a note that cannot be stored in time, and resolves it and the code of the answer. */
  async function submitInVain() {
    const note = { id: randomUUID(), message: 'Hello' };
    const holder = await pool.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE notes IN EXCLUSIVE MODE');
    const { code } = (await submit(service, note)).body.error;
    await holder.query('ROLLBACK');
    holder.release();
    return { note, code };
  }
  // A very busy machine may leave no time to learn that nothing was stored, or to give the count back.
  let vain = await submitInVain();
  while (vain.code === 'outcome_unconfirmed' || !(await isGivenBack())) {
    await pool.query('DELETE FROM rate_counters');
    vain = await submitInVain();
  }
  t.equal(vain.code, 'storage_unavailable');
  t.equal((await submit(service, vain.note)).status, 202);
  t.equal((await submit(service, { ...vain.note, id: randomUUID() })).status, 429);
});

t.test('requires a public parent to submit or read replies', async (t) => {
  const service = await startService(t);
  const parent = { id: randomUUID(), message: 'Parent' };
  await submit(service, parent);
  const reply = await submit(service, {
    id: randomUUID(),
    message: 'Reply',
    parent_id: parent.id,
  });
  t.equal(reply.status, 409);
  t.equal(reply.body.status, 'reply_target_unavailable');
  const read = await service.call('GET', `/api/guestbook?parent_id=${parent.id}`);
  t.equal(read.status, 404);
  t.same(read.body, { status: 'reply_target_unavailable' });
});

t.test('refuses notes but stays readable when the guestbook is closed', async (t) => {
  const service = await startService(t, { GUESTBOOK_OPEN: 'false' });
  const answer = await submit(service, { id: randomUUID(), message: 'Hello' });
  t.equal(answer.status, 503);
  t.equal(answer.body.status, 'admission_closed');
  t.equal((await service.call('GET', '/api/guestbook')).status, 200);
});

t.test('revalidates a read by its ETag and answers HEAD without a body', async (t) => {
  const service = await startService(t);
  const read = await service.call('GET', '/api/guestbook?experience=observatory&other=1');
  const etag = read.headers.get('etag') ?? '';
  t.equal(read.status, 200);
  t.equal(read.headers.get('access-control-allow-origin'), '*');
  const path = '/api/guestbook?experience=observatory';
  const same = await service.call('GET', path, { headers: { 'if-none-match': etag } });
  t.equal(same.status, 304);
  const head = await service.call('HEAD', path);
  t.equal(head.text, '');
  t.equal(head.headers.get('etag'), etag);
  t.equal((await service.call('GET', '/api/guestbook?experience=no')).status, 400);
});

t.test('updates the first page with every change of its notes and their authors', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const attributed = { attribution: 'member', member_handle: member.handle, name: undefined };
  const older = await submitNote(service, attributed, member.cookie);
  const newer = await submitNote(service, { message: 'Newer' });
  const readPage = async () => {
    const { text, body, headers } = await service.call('GET', '/api/guestbook');
    const entries = body.entries.map(({ id, name, message }: Record<string, string>) => {
      return { id, name, message };
    });
    return { entries, text, etag: headers.get('etag') };
  };
  const [first, second] = [
    { id: older.id, name: member.handle, message: 'Hello' },
    { id: newer.id, name: 'Ada', message: 'Newer' },
  ];
  t.same((await readPage()).entries, []);
  await decide(ann, older.id, 'approve');
  const one = await readPage();
  t.same(one.entries, [first]);
  t.same(await readPage(), one, 'an unchanged page has the same ETag');
  const approved = await decide(ann, newer.id, 'approve');
  t.same((await readPage()).entries, [second, first]);
  const undo = `decisions/${approved.body.event_id}/undo`;
  t.equal((await ann.post(undo, { expected_version: 2 })).status, 201);
  t.same(await readPage(), one, 'the page equals the one before the undone approval');

  await service.tamper("UPDATE notes SET message = 'Changed' WHERE note_id = $1", [older.id]);
  t.same((await readPage()).entries, [{ ...first, message: 'Changed' }]);
  await service.tamper("UPDATE members SET handle = 'renamed' WHERE member_id = $1", [member.id]);
  t.same((await readPage()).entries, [{ ...first, message: 'Changed', name: 'renamed' }]);
  await service.tamper('DELETE FROM members WHERE member_id = $1', [member.id]);
  t.same((await readPage()).entries, [{ ...first, message: 'Changed', name: 'former member' }]);
});

t.test('lists each older reply once behind the link to the next page', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const experience = 'observatory';
  const parent = await submitNote(service, { experience });
  await decide(ann, parent.id, 'approve');
  const replies: string[] = [];
  for (let n = 0; n < 31; n++) {
    const { id } = await submitNote(service, { experience, parent_id: parent.id });
    await decide(ann, id, 'approve');
    replies.unshift(id);
  }
  const path = `/api/guestbook?experience=${experience}&parent_id=${parent.id}`;
  const first = await service.call('GET', path);
  const [, next = ''] = /^<(.+)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? [];
  const second = await service.call('GET', next);
  const idsOf = ({ body }: typeof first) => body.entries.map(({ id }: { id: string }) => id);
  t.same(idsOf(first), replies.slice(0, 30));
  t.same(idsOf(second), replies.slice(30));
  t.notOk(second.headers.has('link'), 'the last page has no link');
});
