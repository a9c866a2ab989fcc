import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { bootstrap, newAgent, newCredential } from '../../../harness/agent.ts';
import { type Api, readCookie } from '../../../harness/api.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { patient } from '../../../harness/patient.ts';
import { newKey } from '../../../harness/registration.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { matchAll } from '../../support/match-all.ts';
import { countLockWaits, whileWaitingForLock } from '../../support/meanwhile.ts';
import { type Service, startService } from '../../support/service.ts';

type Agent = Awaited<ReturnType<typeof newAgent>>;

const remove = (agent: Agent, more: object = {}, headers: Record<string, string> = {}) =>
  agent.call('POST', '/api/v1/me/delete', { confirm_handle: agent.handle, ...more }, headers);

/** Repeats a deletion that a busy machine could not do in time; one of unknown outcome may have ended the bearer. */
async function removeUntilAnswered(agent: Agent) {
  const key = { 'idempotency-key': randomUUID() };
  for (let unconfirmed = false; ; ) {
    const { status, body } = await remove(agent, {}, key);
    if (status !== 503) return { status, unconfirmed };
    unconfirmed ||= body.status === 'outcome_unconfirmed';
  }
}

async function login(service: Api, { id, sign_in_key }: Agent) {
  return service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
}

async function memberNote(service: Api, agent: Agent, cookie: string, message: string) {
  const more = { name: '', message, attribution: 'member', member_handle: agent.handle };
  return (await submit(service, more, cookie)).id;
}

const eventsOf = async (service: Service, owner: string) =>
  (
    await service.database.pool.query(
      'SELECT type, actor, data, personal FROM events WHERE owner_id = $1 ORDER BY position',
      [owner],
    )
  ).rows;

/** Searches the public records over MCP. */
async function searchPublic(service: Service, query: string) {
  const params = { name: 'search_public', arguments: { query } };
  const { body } = await service.call('POST', '/mcp', {
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  });
  return body.result.structuredContent.results;
}

t.test("ends a deleted member's sessions and credentials and answers 401 later", async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const cookie = readCookie(await login(service, agent));
  const other = newCredential();
  await bootstrap(service, agent, other);
  const key = randomUUID();
  const deleted = await remove(agent, {}, { 'idempotency-key': key });
  t.equal(deleted.status, 200, deleted.text);
  t.strictSame(Object.keys(deleted.body), ['status', 'receipt']);
  t.match(deleted.body, {
    status: 'deactivated',
    receipt: { operation_id: key, operation: 'account.delete', member_id: agent.id },
  });
  t.equal(deleted.body.receipt.event_ids.length, 4);

  const { id, sign_in_key, recovery_key } = agent;
  const recovery = {
    id,
    recovery_key,
    new_sign_in_key: newKey(),
    new_recovery_key: newKey(),
    operation_id: randomUUID(),
  };
  const refused = {
    me: await agent.call('GET', '/api/v1/me'),
    again: await remove(agent, {}, { 'idempotency-key': key }),
    export: await agent.call('GET', '/api/v1/me/export'),
    session: await service.call('GET', '/api/membership/me', { cookie }),
    login: await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } }),
    recover: await service.call('POST', '/api/membership/recover', { body: recovery }),
    bootstrap: await bootstrap(service, agent, newCredential()),
  };
  for (const [what, answer] of Object.entries(refused)) t.equal(answer.status, 401, what);

  const { pool } = service.database;
  const events = await eventsOf(service, id);
  t.strictSame(
    events.slice(-4).map(({ type, data }) => [type, data.reason]),
    [
      ['SessionEnded', 'deactivated'],
      ['CredentialRevoked', 'deactivated'],
      ['CredentialRevoked', 'deactivated'],
      ['MemberDeactivated', undefined],
    ],
  );
  t.strictSame(
    (await pool.query('SELECT handle, state FROM members WHERE member_id = $1', [id])).rows,
    [{ handle: null, state: 'deactivated' }],
  );
  t.equal((await pool.query('SELECT FROM verifiers WHERE owner_id = $1', [id])).rowCount, 0);
  t.strictSame((await pool.query(`SELECT data FROM pgboss.job WHERE name = 'erase-member'`)).rows, [
    { data: { member_id: id } },
  ]);

  const { handle } = agent;
  const register = (body: object) => service.call('POST', '/api/membership/register', { body });
  const same = { id, handle, sign_in_key, recovery_key };
  t.equal((await register(same)).status, 409, 'the same registration');
  t.equal((await register({ ...same, handle: 'someone_else' })).status, 409, 'the id stays taken');
  t.equal((await register({ ...same, id: randomUUID() })).status, 409, 'the handle stays taken');
});

t.test('refuses an invalid deletion and changes nothing', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '0' });
  const agent = await newAgent(service);
  for (const body of [
    { confirm_handle: 'another' },
    { confirm_handle: agent.handle.toUpperCase() },
    { confirm_handle: `${agent.handle} ` },
  ]) {
    const answer = await remove(agent, body);
    t.equal(answer.status, 400);
    t.match(answer.body.error, { code: 'invalid_request', issues: [{ path: 'confirm_handle' }] });
  }
  t.match((await remove(agent, { erase_notes: 'yes' })).body.error.issues, [
    { path: 'erase_notes' },
  ]);
  t.equal((await remove(agent, { more: 1 })).status, 400);
  const limitedAgent = await newAgent(service, ['account:export']);
  t.equal((await remove(limitedAgent)).body.error.code, 'scope_required');
  t.equal((await agent.call('GET', '/api/v1/me')).status, 200);
  t.equal((await remove(agent)).status, 200, 'a deletion needs no write budget');
});

t.test('keeps approved notes without a name and erases notes never published', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann', 'lead');
  const agent = await newAgent(service);
  const cookie = readCookie(await login(service, agent));
  const stays = await memberNote(service, agent, cookie, 'It stays');
  const rejected = await memberNote(service, agent, cookie, 'Refused');
  const pending = await memberNote(service, agent, cookie, 'It waits');
  await decide(ann, stays, 'approve');
  matchAll(t, await searchPublic(service, 'stays'), [{ id: stays, title: agent.handle }]);
  const decision = (await decide(ann, rejected, 'reject')).body;
  await ann.post('claims', { note_ids: [pending] });
  t.equal((await remove(agent)).status, 200);

  const [entry, ...none] = (await service.call('GET', '/api/guestbook')).body.entries;
  t.match(entry, { id: stays, name: 'former member', message: 'It stays' });
  t.strictSame(none, []);
  matchAll(t, await searchPublic(service, 'stays'), [{ id: stays, title: 'former member' }]);
  const { rows } = await service.database.pool.query(
    'SELECT note_id, state, message FROM notes ORDER BY submitted_at',
  );
  t.strictSame(rows, [
    { note_id: stays, state: 'approved', message: 'It stays' },
    { note_id: rejected, state: 'rejected', message: null },
    { note_id: pending, state: 'withdrawn', message: null },
  ]);
  const late = await decide(ann, pending, 'approve');
  t.match(late.body.error, { code: 'state_conflict', reason: 'wrong_state' });
  const undone = await ann.post(`decisions/${decision.event_id}/undo`, {
    expected_version: decision.version + 1,
  });
  t.equal(undone.status, 409, 'a decision on an erased text cannot be undone');
  t.equal((await service.database.pool.query('SELECT FROM note_leases')).rowCount, 0);
});

t.test('withdraws the open appeal of a deleted member', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const agent = await newAgent(service);
  const cookie = readCookie(await login(service, agent));
  const id = await memberNote(service, agent, cookie, 'Refused');
  await decide(ann, id, 'reject');
  const text = { body: { text: 'Please' }, cookie };
  t.equal((await service.call('POST', `/api/guestbook/${id}/appeal`, text)).status, 202);
  t.equal((await bob.get('queue?view=appeals')).body.items.length, 1);
  t.equal((await remove(agent)).status, 200);
  t.same((await bob.get('queue?view=appeals')).body.items, []);
  t.same((await bob.post('claims', { count: 1, view: 'appeals' })).body.claims, []);
  const grant = await bob.post(`notes/${id}/decisions`, { action: 'grant', expected_version: 4 });
  t.match(grant.body.error, { code: 'state_conflict', reason: 'wrong_state' });
  t.same((await service.call('GET', '/api/guestbook')).body.entries, []);
});

t.test('erases approved notes and hides their replies with erase_notes', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const agent = await newAgent(service);
  const cookie = readCookie(await login(service, agent));
  const top = await memberNote(service, agent, cookie, 'It goes');
  await decide(ann, top, 'approve');
  const reply = await submit(service, { parent_id: top });
  await decide(ann, reply.id, 'approve');
  t.equal((await remove(agent, { erase_notes: true })).status, 200);
  t.strictSame((await service.call('GET', '/api/guestbook')).body.entries, []);
  t.equal((await service.call('GET', `/api/guestbook?parent_id=${top}`)).status, 404);
});

t.test('withdraws a note once if its account is deleted at the same time', async (t) => {
  // As a batch, the withdrawal would wait for 200 ms only, and leave its locks before it runs alone.
  const service = await startService(t, { GROUP_COMMIT: 'off' });
  const { pool } = service.database;
  const agent = await newAgent(service);
  const cookie = readCookie(await login(service, agent));
  const note = await memberNote(service, agent, cookie, 'It goes');
  let deletion: ReturnType<typeof remove> | undefined;
  const withdrawal = await whileWaitingForLock(
    pool,
    `SELECT FROM feed_heads WHERE member_id = '${agent.id}' FOR UPDATE`,
    () => service.call('POST', `/api/guestbook/${note}/withdraw`, { body: {}, cookie }),
    async () => {
      // The deletion looks for withdrawn notes before it waits for the lock behind the withdrawal.
      deletion = remove(agent, { erase_notes: true });
      while ((await countLockWaits(pool)) < 2) await sleep(10);
    },
  );
  t.equal(withdrawal.status, 200, withdrawal.text);
  t.equal((await deletion)?.status, 200);
  const types = (await eventsOf(service, agent.id)).map(({ type }) => type);
  t.same(
    types.filter((type) => type === 'NoteWithdrawn' || type === 'NoteErased'),
    ['NoteWithdrawn', 'NoteErased'],
  );
});

t.test('executes one of two concurrent deletions', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(patient(service));
  const key = randomUUID();
  const answers = await Promise.all([
    remove(agent),
    remove(agent),
    remove(agent, {}, { 'idempotency-key': key }),
    remove(agent, {}, { 'idempotency-key': key }),
  ]);
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
  const deactivations = (await eventsOf(service, agent.id)).filter(
    ({ type }) => type === 'MemberDeactivated',
  );
  t.equal(deactivations.length, 1);
});

t.test('accepts no write of a member after the deletion commits', async (t) => {
  const service = await startService(t, {
    LIMIT_BOOTSTRAP_ATTEMPTS: '1000',
    LIMIT_ACTIVE_CREDENTIALS: '1000',
  });
  const api = patient(service);
  const agent = await newAgent(service);
  const cookie = readCookie(await login(api, agent));
  const write = (index: number) => {
    if (index % 3 === 0) return bootstrap(api, agent, newCredential());
    if (index % 3 === 1) return login(api, agent);
    return memberNote(api, agent, cookie, `Note ${index}`).then(
      () => ({ status: 202 }),
      () => ({ status: 401 }),
    );
  };
  const writes = Array.from({ length: 25 }, (_, index) => write(index));
  const deletion = removeUntilAnswered(agent);
  writes.push(...Array.from({ length: 25 }, (_, index) => write(index)));
  const { status, unconfirmed } = await deletion;
  t.equal(status, unconfirmed && status === 401 ? 401 : 200);
  writes.push(write(0), write(1));
  const statuses = (await Promise.all(writes)).map(({ status }) => status);
  t.strictSame(statuses.slice(-2), [401, 401]);
  t.ok(statuses.every((status) => [200, 201, 202, 401].includes(status)));
  const events = await eventsOf(service, agent.id);
  t.equal(events.at(-1)?.type, 'MemberDeactivated');
  const { rows } = await service.database.pool.query(
    `SELECT (SELECT count(*)::int FROM sessions WHERE ended_at IS NULL) AS sessions,
      (SELECT count(*)::int FROM credentials WHERE state = 'active') AS credentials,
      (SELECT count(*)::int FROM notes WHERE message IS NOT NULL) AS notes,
      (SELECT count(*)::int FROM verifiers) AS verifiers`,
  );
  t.strictSame(rows, [{ sessions: 0, credentials: 0, notes: 0, verifiers: 0 }]);
});

t.test('records no report that waited while its author was deleted', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const agent = await newAgent(service);
  const cookie = readCookie(await login(service, agent));
  const note = await submit(service);
  await decide(await addModerator(service, 'Ann'), note.id, 'approve');
  const report = (id: string, body: object) =>
    service.call('POST', `/api/guestbook/${id}/report`, { body, cookie });
  t.equal(
    (await report(randomUUID(), { reason: 'spam' })).status,
    404,
    'a report on an unknown note is counted',
  );

  const late = await whileWaitingForLock(
    pool,
    `SELECT FROM rate_counters WHERE kind LIKE 'reports-%' FOR UPDATE`,
    () => report(note.id, { reason: 'spam', details: 'My own words' }),
    async () => {
      t.equal((await remove(agent)).status, 200);
      t.equal(await eraseMembers(service.core, { member_id: agent.id }), 1);
    },
  );
  t.equal(late.body.error.code, 'session_required');
  const { rowCount } = await pool.query(`SELECT FROM events WHERE type = 'NoteReported'`);
  t.equal(rowCount, 0);
});
