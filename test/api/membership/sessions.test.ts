import { randomUUID } from 'node:crypto';
import t from 'tap';
import { bootstrap, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { signedIn } from '../../../harness/registration.ts';
import { newToken } from '../../../platform/keys/token.ts';
import { expireSessions } from '../../../workers/membership/expire-sessions.ts';
import { type Service, startService } from '../../support/service.ts';
import { recordWork } from '../../support/work-done.ts';

const LIST = '/api/membership/sessions';
const REVOKE = `${LIST}/revoke`;

type Member = Awaited<ReturnType<typeof signedIn>>;

async function signInAgain(service: Service, { id, sign_in_key }: Member): Promise<string> {
  const body = { id, sign_in_key };
  return readCookie(await service.call('POST', '/api/membership/login', { body }));
}

const sessionId = (cookie: string) => /=([^.]+)\./.exec(cookie)?.[1];
const idsOf = ({ body }: { body: { sessions: { id: string }[] } }) =>
  body.sessions.map(({ id }) => id);
const statusWith = async (service: Service, cookie: string) =>
  (await service.call('GET', '/api/membership/me', { cookie })).status;

t.test('lists the live sessions of a member, newest first and in pages', async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const stranger = await signedIn(service);
  const cookies = [member.cookie];
  for (let n = 0; n < 3; n++) cookies.unshift(await signInAgain(service, member));
  const [newest, signedOut, , oldest] = cookies as [string, string, string, string];
  await service.call('POST', '/api/membership/logout', { cookie: signedOut, body: {} });
  await service.database.pool.query(
    'UPDATE sessions SET expires_at = clock_timestamp() WHERE session_id = $1',
    [sessionId(newest)],
  );
  const live = cookies.filter((cookie) => cookie !== newest && cookie !== signedOut).map(sessionId);

  const list = (query = '') => service.call('GET', `${LIST}${query}`, { cookie: oldest });
  const all = await list();
  t.equal(all.status, 200, all.text);
  t.same(idsOf(all), live);
  t.same(
    all.body.sessions.map(({ current }: { current: boolean }) => current),
    [false, true],
  );
  t.same(Object.keys(all.body.sessions[0]), [
    'id',
    'started_at',
    'expires_at',
    'ended_at',
    'current',
  ]);
  t.equal(all.headers.get('cache-control'), 'no-store');

  const first = await list('?limit=1');
  const second = await list(`?limit=1&cursor=${first.body.next_cursor}`);
  t.same([...idsOf(first), ...idsOf(second)], live);
  t.equal(second.body.next_cursor, null);
  t.match(await list('?cursor=none'), { status: 400, body: { status: 'invalid_cursor' } });
  t.same(idsOf(await service.call('GET', LIST, { cookie: stranger.cookie })), [
    sessionId(stranger.cookie),
  ]);
  t.match(await service.call('GET', LIST), { status: 401, body: { status: 'session_required' } });
});

t.test('revokes one session, and returns one that has ended unchanged', async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const other = await signInAgain(service, member);
  const body = { session_id: sessionId(other)?.toUpperCase() };
  const revoke = () => service.call('POST', REVOKE, { cookie: member.cookie, body });
  const revoked = await revoke();
  t.match(revoked, {
    status: 200,
    body: { status: 'revoked', sessions: [{ id: sessionId(other), current: false }] },
  });
  t.type(revoked.body.sessions[0].ended_at, 'string');
  t.equal(revoked.headers.get('set-cookie'), null);
  t.equal(await statusWith(service, other), 401);
  t.equal(await statusWith(service, member.cookie), 200);
  t.same((await revoke()).body, revoked.body);

  const { rows } = await service.database.pool.query(
    "SELECT data, actor FROM events WHERE type = 'SessionEnded'",
  );
  t.same(rows, [
    {
      data: { session_id: sessionId(other), reason: 'revoked' },
      actor: { type: 'member', id: member.id },
    },
  ]);
});

t.test('signs out a browser that revokes its own session', async (t) => {
  const service = await startService(t);
  const { cookie } = await signedIn(service);
  const body = { session_id: sessionId(cookie) };
  const revoked = await service.call('POST', REVOKE, { cookie, body });
  t.match(revoked, { status: 200, body: { sessions: [{ current: true }] } });
  t.match(revoked.headers.get('set-cookie'), /^__Host-ServiceSession=;.*Max-Age=0/);
  t.equal(await statusWith(service, cookie), 401);
});

t.test('revokes all sessions but the one of the request', async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const stranger = await signedIn(service);
  const others = [await signInAgain(service, member), await signInAgain(service, member)];
  const headers = { 'idempotency-key': randomUUID() };
  const revoke = (more: object = {}) =>
    service.call('POST', REVOKE, {
      cookie: member.cookie,
      body: { all_others: true, ...more },
      headers,
    });
  const revoked = await revoke();
  t.equal(revoked.status, 200, revoked.text);
  t.same(idsOf(revoked), others.map(sessionId).reverse());
  for (const cookie of others) t.equal(await statusWith(service, cookie), 401);
  for (const { cookie } of [member, stranger]) t.equal(await statusWith(service, cookie), 200);

  const later = await signInAgain(service, member);
  const repeated = await revoke();
  t.same(repeated.body, revoked.body);
  t.equal(repeated.headers.get('idempotency-replayed'), 'true');
  const { rows } = await service.database.pool.query(
    `SELECT reply FROM receipts WHERE space = 'session'`,
  );
  t.same(rows, [{ reply: revoked.body.sessions }], 'a receipt has what earlier releases stored');
  t.equal(await statusWith(service, later), 200, 'a repeat revokes nothing more');
  t.match(await revoke({ session_id: sessionId(later) }), { status: 400 });
  const body = { session_id: sessionId(later) };
  const reused = await service.call('POST', REVOKE, { cookie: member.cookie, body, headers });
  t.match(reused, { status: 409, body: { status: 'idempotency_conflict' } });
});

t.test("refuses another member's session like an unknown one", async (t) => {
  const service = await startService(t);
  const [{ cookie }, stranger] = [await signedIn(service), await signedIn(service)];
  for (const session_id of [sessionId(stranger.cookie), randomUUID()]) {
    const answer = await service.call('POST', REVOKE, { cookie, body: { session_id } });
    t.match(answer, { status: 409, body: { error: { reason: 'session_unavailable' } } });
  }
  t.equal(await statusWith(service, stranger.cookie), 200);
});

t.test('revokes nothing for a session that was revoked itself', async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const other = await signInAgain(service, member);
  const revokeOthers = (cookie: string) =>
    service.call('POST', REVOKE, { cookie, body: { all_others: true } });
  const answers = await Promise.all([revokeOthers(member.cookie), revokeOthers(other)]);
  t.same(answers.map(({ status }) => status).sort(), [200, 401]);
  const live = [await statusWith(service, member.cookie), await statusWith(service, other)];
  t.same(live.sort(), [200, 401]);
});

t.test('says with the cookie of an ended session how it ended, for 30 days', async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const [signedOut, expired, replaced] = [
    await signInAgain(service, member),
    await signInAgain(service, member),
    await signInAgain(service, member),
  ];
  const at = (column: string, cookie: string, time: string) =>
    service.database.pool.query(`UPDATE sessions SET ${column} = ${time} WHERE session_id = $1`, [
      sessionId(cookie),
    ]);
  const refusalOf = async (cookie: string) => {
    const { status, body } = await service.call('GET', LIST, { cookie });
    const { request_id: _, ...error } = body.error;
    return { status, error };
  };
  const plain = {
    status: 401,
    error: { code: 'session_required', message: 'A valid session is required.' },
  };
  const withReason = (reason: string, message: string) => ({
    status: 401,
    error: { code: 'session_required', reason, message },
  });
  const revoked = withReason('revoked', 'The session was revoked.');

  await service.call('POST', '/api/membership/logout', { cookie: signedOut, body: {} });
  t.same(await refusalOf(signedOut), revoked, 'signed out');
  await at('expires_at', expired, 'clock_timestamp()');
  const over = withReason('expired', 'The session has expired.');
  t.same(await refusalOf(expired), over, 'before the worker records it');
  t.equal(await expireSessions(service.core), 1);
  t.same(await refusalOf(expired), over, 'afterwards');
  const again = { id: member.id, sign_in_key: member.sign_in_key };
  await service.call('POST', '/api/membership/login', { body: again, cookie: replaced });
  t.same(await refusalOf(replaced), revoked, 'replaced by a sign-in');
  const me = await service.call('GET', '/api/membership/me', { cookie: signedOut });
  t.same(me.body, { status: 'session_required' }, 'which this route does not say');

  const otherSecret = (cookie: string) => cookie.replace(/\.[^.]+$/, `.${newToken().secret}`);
  const attempts = {
    unknown: otherSecret(member.cookie).replace(sessionId(member.cookie) ?? '', randomUUID()),
    live: otherSecret(member.cookie),
    ended: otherSecret(signedOut),
  };
  const unknown = await recordWork(() => refusalOf(attempts.unknown));
  for (const [name, cookie] of Object.entries(attempts)) {
    t.same(await refusalOf(cookie), plain, `another secret: ${name}`);
    t.strictSame(await recordWork(() => refusalOf(cookie)), unknown, `the same work: ${name}`);
  }

  await at('ended_at', signedOut, `ended_at - interval '30 days'`);
  t.same(await refusalOf(signedOut), plain, 'after 30 days');
  const body = { confirm_handle: member.handle };
  const agent = newCredential();
  await bootstrap(service, member, agent);
  const headers = { authorization: toAuthorization(agent), 'idempotency-key': randomUUID() };
  t.equal((await service.call('POST', '/api/v1/me/delete', { body, headers })).status, 200);
  t.same(await refusalOf(replaced), plain, 'of a deleted member');
});
