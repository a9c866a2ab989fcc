import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import t from 'tap';
import { addModerator, atDesk, submit } from '../../../harness/moderation.ts';
import { patient } from '../../../harness/patient.ts';
import { signedIn } from '../../../harness/registration.ts';
import {
  addModerator as registerModerator,
  revokeModerator,
} from '../../../services/moderation/staff/moderators.ts';
import { matchAll } from '../../support/match-all.ts';
import { startService } from '../../support/service.ts';

const approve = { action: 'approve', expected_version: 1 };
const reject = { action: 'reject', expected_version: 1, policy: 'spam' };

t.test('lets a moderator claim, approve and undo a note, read as it was sent', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const sent = await submit(service, { message: ' Grüße,\n\tשלום <b>你好</b> \u202e👋 ' });
  const second = await submit(service);

  const first = await ann.get('queue?limit=1');
  t.equal(first.status, 200);
  t.match(first.body, {
    status: 'ok',
    counts: { todo: 2, mine: 0 },
    items: [
      {
        id: sent.id,
        text: sent.message,
        author: { kind: 'guest', name: 'Ada' },
        version: 1,
        claim: null,
        allowed_actions: ['approve', 'reject'],
      },
    ],
  });
  const next = await ann.get(`queue?limit=1&cursor=${first.body.next_cursor}`);
  t.equal(next.body.items[0].id, second.id);
  t.equal(next.body.next_cursor, null);

  const claimed = await ann.post('claims', { count: 1 });
  t.equal(claimed.status, 200);
  matchAll(t, claimed.body.claims, [{ note_id: sent.id, item: { claim: { mine: true } } }]);
  t.match((await ann.get('me')).body, {
    moderator: { id: ann.id, name: 'Ann', role: 'moderator' },
    leases: [{ note_id: sent.id }],
  });

  const approved = await ann.post(`notes/${sent.id}/decisions`, approve);
  t.equal(approved.status, 201);
  t.match(approved.body, { state: 'approved', version: 2, undo_until: String });
  const { rows } = await service.database.pool.query(
    `SELECT data->>'claimed_at' AS at FROM events WHERE type = 'NoteApproved'`,
  );
  t.ok(rows[0].at);
  t.same((await ann.get('me')).body.leases, []);
  const read = await service.call('GET', '/api/guestbook');
  t.equal(read.body.entries.length, 1);
  t.equal(read.body.entries[0].message, sent.message);

  const undo = `decisions/${approved.body.event_id}/undo`;
  const stale = await ann.post(undo, { expected_version: 1 });
  t.equal(stale.body.error.reason, 'version_mismatch');
  const undone = await ann.post(undo, { expected_version: 2 });
  t.equal(undone.status, 201);
  t.match(undone.body, { state: 'pending', version: 3 });
  t.same((await service.call('GET', '/api/guestbook')).body.entries, []);
  t.equal((await ann.post(undo, { expected_version: 3 })).body.error.reason, 'wrong_state');
  t.equal((await ann.get('queue')).body.items[0].id, sent.id, 'the note returns to its old place');
});

t.test('requires an active policy for a rejection and hides the note', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { id } = await submit(service);
  const path = `notes/${id}/decisions`;
  t.equal((await ann.post(path, { ...reject, policy: undefined })).status, 400);
  t.equal((await ann.post(path, { ...reject, policy: 'taste' })).status, 400);
  const stale = await ann.post(path, { ...reject, expected_version: 2 });
  t.equal(stale.status, 409);
  t.equal(stale.body.error.reason, 'version_mismatch');
  t.match((await ann.post(path, { ...reject, message: 'No.' })).body, { state: 'rejected' });
  t.same((await service.call('GET', '/api/guestbook')).body.entries, []);
  t.equal((await ann.get('queue')).body.counts.todo, 0);
  t.equal((await ann.post(`notes/${randomUUID()}/decisions`, approve)).status, 404);
});

t.test("decides on a member's note", async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const body = {
    id: randomUUID(),
    message: 'Mine',
    attribution: 'member',
    member_handle: member.handle,
  };
  await service.call('POST', '/api/guestbook', { body, cookie: member.cookie });
  t.equal((await ann.post(`notes/${body.id}/decisions`, approve)).status, 201);
  matchAll(t, (await service.call('GET', '/api/guestbook')).body.entries, [
    { name: member.handle },
  ]);
});

t.test('accepts one of two concurrent decisions and tells the other who decided', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  for (let round = 0; round < 5; round++) {
    const { id } = await submit(service);
    const answers = await Promise.all([
      ann.post(`notes/${id}/decisions`, approve),
      bob.post(`notes/${id}/decisions`, reject),
    ]);
    t.same(answers.map(({ status }) => status).sort(), [201, 409]);
    const [winner, state] = answers[0].status === 201 ? [ann.id, 'approved'] : [bob.id, 'rejected'];
    const loser = answers.find(({ status }) => status === 409);
    t.match(loser?.body.error, {
      reason: 'version_mismatch',
      current_state: state,
      current_version: 2,
      decided_by: { id: winner },
      decided_at: String,
    });
    const late = { ...approve, expected_version: 2 };
    t.equal((await bob.post(`notes/${id}/decisions`, late)).body.error.reason, 'wrong_state');
  }
});

t.test('gives forty notes to eight moderators, each note to one', async (t) => {
  const service = await startService(t);
  for (let count = 0; count < 40; count++) await submit(service);
  const names = Array.from({ length: 8 }, (_, index) => `M${index}`);
  const added = await Promise.all(names.map((name) => addModerator(service, name)));
  const moderators = added.map((moderator) => atDesk(patient(service), moderator));
  const answers = await Promise.all(
    moderators.flatMap((one) => Array.from({ length: 5 }, () => one.post('claims', { count: 1 }))),
  );
  t.same([...new Set(answers.map(({ status }) => status))], [200]);
  const claimed = answers.flatMap(({ body }, at) =>
    body.claims.map(
      (c: { note_id: string }) => `${c.note_id} ${moderators[Math.floor(at / 5)]?.id}`,
    ),
  );
  const { rows } = await service.database.pool.query<{ lease: string }>(
    `SELECT concat(note_id, ' ', moderator_id) AS lease FROM note_leases`,
  );
  const leases = new Set(rows.map(({ lease }) => lease));
  t.equal(leases.size, 40);
  t.ok(
    claimed.every((one) => leases.has(one)),
    'each answer has the notes of its moderator',
  );
  // One claim may be in no answer: that of a request which a busy machine did not answer in time.
  t.equal(new Set(claimed).size, claimed.length);
  t.same((await moderators[0]?.post('claims', { count: 1 }))?.body.claims, []);
});

t.test('keeps a claimed note from others until its release or end, ten at a time', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const notes = [];
  for (let count = 0; count < 12; count++) notes.push(await submit(service));
  const { id } = notes[0] ?? { id: '' };
  const claimed = await ann.post('claims', { note_ids: [id] });
  const { lease_id } = claimed.body.claims[0];
  const expected = { reason: 'claimed_by_other', claimed_by: { id: ann.id, name: 'Ann' } };
  t.match((await bob.post('claims', { note_ids: [id] })).body.error, expected);
  t.match((await bob.post(`notes/${id}/decisions`, approve)).body.error, expected);
  t.same((await bob.get('queue')).body.items[0].allowed_actions, []);
  const renewal = await ann.post('claims/renew', { lease_ids: [lease_id] });
  t.match(renewal.body, { renewed: [lease_id], lost: [] });
  const upper = { lease_ids: [lease_id.toUpperCase()] };
  t.match((await ann.post('claims/renew', upper)).body, { renewed: [lease_id], lost: [] });
  t.match((await bob.post('claims/renew', { lease_ids: [lease_id] })).body, { lost: [lease_id] });
  await bob.post('claims/release', { lease_ids: [lease_id] });
  t.equal((await ann.get('me')).body.leases.length, 1);

  t.equal((await ann.post('claims', { count: 9 })).body.claims.length, 9);
  const eleventh = await ann.post('claims', { count: 1 });
  t.equal(eleventh.status, 409);
  t.equal(eleventh.body.error.reason, 'claim_limit');
  t.equal((await ann.get('me')).body.leases.length, 10);

  const { pool } = service.database;
  await pool.query(
    `UPDATE note_leases SET claimed_at = claimed_at - interval '27 minutes',
      expires_at = expires_at - interval '4 minutes'`,
  );
  await ann.post('claims/renew', { lease_ids: [lease_id] });
  const { rows } = await pool.query(
    'SELECT extract(epoch FROM expires_at - claimed_at)::int AS held FROM note_leases WHERE lease_id = $1',
    [lease_id],
  );
  t.same(rows, [{ held: 1800 }], 'renewals end half an hour after the claim');

  await pool.query(`UPDATE note_leases SET expires_at = clock_timestamp()`);
  t.match((await ann.post('claims/renew', { lease_ids: [lease_id] })).body, { lost: [lease_id] });
  t.equal((await bob.post('claims', { count: 1 })).body.claims[0].note_id, id);
  const released = (await bob.get('me')).body.leases[0].lease_id;
  t.same((await bob.post('claims/release', { lease_ids: [released] })).body.released, [released]);
  t.equal((await ann.post(`notes/${id}/decisions`, approve)).status, 201);
});

t.test('approves a reply only while its parent is public', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const parent = await submit(service);
  const decided = await lead.post(`notes/${parent.id}/decisions`, approve);
  const reply = await submit(service, { parent_id: parent.id });
  await lead.post(`decisions/${decided.body.event_id}/undo`, { expected_version: 2 });
  const refused = await lead.post(`notes/${reply.id}/decisions`, approve);
  t.equal(refused.status, 409);
  t.equal(refused.body.error.reason, 'parent_not_public');
});

t.test('allows an undo only within its window to its decider, or to a lead', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const lead = await addModerator(service, 'Lea', 'lead');
  const { id } = await submit(service);
  const { body } = await ann.post(`notes/${id}/decisions`, approve);
  const undo = `decisions/${body.event_id}/undo`;
  t.equal((await ann.post(undo, { expected_version: 2 })).body.error.reason, 'undo_expired');
  const others = await bob.post(undo, { expected_version: 2 });
  t.equal(others.status, 403);
  t.equal(others.body.status, 'role_required');
  t.equal((await lead.post(undo, { expected_version: 2 })).status, 201);
});

t.test('checks roles and refuses members, anonymous callers and revoked moderators', async (t) => {
  const service = await startService(t);
  const triage = await addModerator(service, 'Tri', 'triage');
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const member = await signedIn(service);
  const { id } = await submit(service);
  t.equal((await auditor.get('queue')).status, 200);
  t.equal((await auditor.post('claims', { count: 1 })).status, 403);
  t.equal((await triage.post('claims', { count: 1 })).status, 200);
  t.equal((await triage.post(`notes/${id}/decisions`, approve)).status, 403);
  for (const options of [
    {},
    { cookie: member.cookie },
    { headers: { authorization: `Bearer mod_${triage.id}.${'0'.repeat(64)}` } },
    { headers: { authorization: `Bearer ${randomUUID()}.${'0'.repeat(64)}` } },
  ]) {
    const answer = await service.call('GET', '/api/moderation/queue', options);
    t.equal(answer.status, 401);
    t.equal(answer.body.status, 'moderator_required');
  }
  t.match(await registerModerator(service.core, 'Tri', 'lead'), { refused: 'name_taken' });
  t.match(await revokeModerator(service.core, 'Tri'), { id: triage.id });
  t.equal((await triage.get('me')).status, 401);
  t.equal((await auditor.get('queue')).body.items[0].claim, null);
  t.notMatch(JSON.stringify(service.logged), triage.token);
});

t.test('adds, lists and revokes moderators by the command', async (t) => {
  const service = await startService(t);
  const { serverKeys } = service.core.config;
  const key = serverKeys?.[0];
  const env = {
    ...process.env,
    DATABASE_URL: service.database.url,
    SERVER_KEYS: `${key?.id}:${Buffer.from(key?.secret ?? '').toString('hex')}`,
  };
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, ['cli/moderator.ts', ...args], { env });
  const added = await run('add', 'Zoe', '--role', 'lead');
  const token = added.stdout.trimEnd().split('\n').at(-1) ?? '';
  t.match(token, /^mod_[0-9a-f-]{36}\.[0-9a-f]{64}$/);
  const headers = { authorization: `Bearer ${token}` };
  const me = await service.call('GET', '/api/moderation/me', { headers });
  t.match(me.body, { moderator: { name: 'Zoe', role: 'lead' } });
  t.match((await run('list')).stdout, /\tlead\tactive\tZoe\n/);
  t.match((await run('rescreen')).stdout, /^Enqueued 0 notes/);
  await t.rejects(run('add', 'Zoe', '--role', 'lead'), { code: 1 });
  await t.rejects(run('add', 'Yan', '--role', 'king'), { code: 2 });
  await run('revoke', 'Zoe');
  t.equal((await service.call('GET', '/api/moderation/me', { headers })).status, 401);
});
