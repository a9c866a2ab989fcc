import { randomUUID } from 'node:crypto';
import t from 'tap';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, submit } from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import { revokeModerator, rotateModerator } from '../../../services/moderation/staff/moderators.ts';
import { whileWaitingForLock } from '../../support/meanwhile.ts';
import { type Service, startService } from '../../support/service.ts';

const PATH = '/api/moderation/session';

const signIn = (service: Service, token: string, cookie?: string) =>
  service.call('POST', PATH, { body: { token }, cookie });

const me = (service: Service, cookie: string) =>
  service.call('GET', '/api/moderation/me', { cookie });

t.test('exchanges a token for a cookie with the same rights', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  const answer = await signIn(service, ann.token);
  t.equal(answer.status, 200);
  t.match(answer.body, {
    status: 'signed_in',
    moderator: { id: ann.id, name: 'Ann', role: 'moderator' },
  });
  const seconds = answer.body.expires_at - Date.now() / 1000;
  t.ok(seconds > 86_000 && seconds < 86_500);
  t.match(
    answer.headers.get('set-cookie'),
    /^__Host-ServiceModerator=[0-9a-f-]{36}\.[0-9a-f]{64}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=86400$/,
  );
  const cookie = readCookie(answer);
  t.match((await me(service, cookie)).body, { moderator: { id: ann.id } });
  const claimed = await service.call('POST', '/api/moderation/claims', {
    body: { count: 1 },
    cookie,
  });
  t.equal(claimed.body.claims[0].note_id, note.id);

  const out = await service.call('DELETE', PATH, { cookie });
  t.equal(out.status, 200);
  t.equal(out.body.status, 'signed_out');
  t.match(out.headers.get('set-cookie'), /^__Host-ServiceModerator=; .*Max-Age=0$/);
  t.equal((await me(service, cookie)).status, 401);
  t.equal((await service.call('DELETE', PATH, { cookie })).status, 401);
  t.same((await ann.get('me')).body.leases, [], 'the claim was released');

  const [, secret] = cookie.split('.');
  const stored = JSON.stringify([
    service.logged,
    (await service.database.pool.query('SELECT * FROM events')).rows,
    (await service.database.pool.query('SELECT * FROM moderator_sessions')).rows,
  ]);
  t.notMatch(stored, secret);
  t.notMatch(stored, ann.token.split('.')[1]);
});

t.test('refuses a request whose expected moderator is another one', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const cookie = readCookie(await signIn(service, ann.token));
  const status = async (expected: string, headers: object) =>
    (
      await service.call('GET', '/api/moderation/me', {
        headers: { 'expected-moderator': expected, ...headers },
      })
    ).status;
  for (const headers of [{ cookie }, { authorization: `Bearer ${ann.token}` }]) {
    t.equal(await status(ann.id, headers), 200);
    t.equal(await status(ann.id.toUpperCase(), headers), 200);
    t.equal(await status(bob.id, headers), 401);
    t.equal(await status('', headers), 401);
  }
});

t.test('refuses wrong tokens and callers who are not moderators', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const wrongTokens = [
    'mod_wrong',
    `mod_${ann.id}.${'0'.repeat(64)}`,
    `mod_${randomUUID()}.${'0'.repeat(64)}`,
    ann.token.slice(4),
  ];
  for (const token of wrongTokens) {
    const answer = await signIn(service, token);
    t.equal(answer.status, 401, token);
    t.equal(answer.body.status, 'moderator_required');
    t.equal(answer.headers.get('set-cookie'), null);
  }
  t.equal((await service.call('POST', PATH, { body: {} })).status, 400);
  t.equal((await service.call('POST', PATH, { body: { token: '' } })).status, 400);

  t.equal((await service.call('DELETE', PATH)).status, 401);
  t.equal((await service.call('DELETE', PATH, { cookie: member.cookie })).status, 401);
  const cookie = readCookie(await signIn(service, ann.token));
  const repeated = await me(service, `${cookie}; ${cookie}`);
  t.equal(repeated.status, 401, 'a repeated cookie is refused');
  const both = await service.call('GET', '/api/moderation/me', {
    cookie,
    headers: { authorization: `Bearer mod_${ann.id}.${'0'.repeat(64)}` },
  });
  t.equal(both.status, 401, 'a wrong bearer is refused beside a valid cookie');
  const asMember = await service.call('GET', '/api/v1/me', {
    headers: { authorization: `Bearer ${ann.token}` },
  });
  t.equal(asMember.status, 401, "a moderator's token is no member's credential");
  const session = await service.call('GET', '/api/membership/me', { cookie });
  t.equal(session.status, 401);
});

t.test('requires an own-origin page for a mutation with the cookie', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const cookie = readCookie(await signIn(service, ann.token));
  const claims = (headers: Record<string, string>, more: object = { cookie }) =>
    fetch(`${service.baseUrl}/api/moderation/claims`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...more, ...headers },
      body: '{"count":1}',
    }).then(async (answer) => [
      answer.status,
      ((await answer.json()) as { status: string }).status,
    ]);
  t.same(await claims({}), [403, 'origin_not_allowed']);
  t.same(await claims({ origin: 'https://elsewhere.example' }), [403, 'origin_not_allowed']);
  t.same(await claims({ origin: service.baseUrl, 'sec-fetch-site': 'cross-site' }), [
    403,
    'fetch_site_not_allowed',
  ]);
  t.same(await claims({ origin: service.baseUrl, 'sec-fetch-site': 'same-origin' }), [200, 'ok']);
  const authorization = `Bearer ${ann.token}`;
  t.same(await claims({ authorization }, {}), [200, 'ok'], 'a bearer needs no Origin');
  t.same(await claims({ authorization, origin: 'https://elsewhere.example' }, {}), [
    403,
    'origin_not_allowed',
  ]);
  t.same(await claims({}, {}), [401, 'moderator_required']);
  const foreign = await fetch(service.baseUrl + PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: ann.token }),
  });
  t.equal(foreign.status, 403);
  const out = await fetch(service.baseUrl + PATH, { method: 'DELETE', headers: { cookie } });
  t.equal(out.status, 403);
});

t.test('ends a session when it is idle, when it is old, and at the next sign-in', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const ann = await addModerator(service, 'Ann');
  const cookie = readCookie(await signIn(service, ann.token));
  const readSeenAt = async () => (await pool.query('SELECT seen_at FROM moderator_sessions')).rows;
  const shift = (column: string, by: string) =>
    pool.query(`UPDATE moderator_sessions SET ${column} = ${column} - interval '${by}'`);

  const before = await readSeenAt();
  t.equal((await me(service, cookie)).status, 200);
  t.same(await readSeenAt(), before, 'a recent request does not write');
  await shift('seen_at', '7 hours 59 minutes');
  const stale = await readSeenAt();
  t.equal((await me(service, cookie)).status, 200);
  t.notSame(await readSeenAt(), stale, 'a later request restarts the idle time');
  await shift('seen_at', '8 hours');
  t.equal((await me(service, cookie)).status, 401);

  const second = readCookie(await signIn(service, ann.token));
  t.equal((await readSeenAt()).length, 1, 'the next sign-in deletes the ended session');
  await shift('expires_at', '24 hours');
  t.equal((await me(service, second)).status, 401);

  const third = readCookie(await signIn(service, ann.token));
  const fourth = readCookie(await signIn(service, ann.token, third));
  t.equal((await me(service, third)).status, 401);
  t.equal((await me(service, fourth)).status, 200);

  const bob = await addModerator(service, 'Bob');
  await signIn(service, bob.token, fourth.replace(/[0-9a-f]{64}$/, 'a'.repeat(64)));
  t.equal((await me(service, fourth)).status, 200, 'a session id alone ends no session');
});

t.test('ends every session of a moderator by revocation or rotation', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service);
  const cookie = readCookie(await signIn(service, ann.token));
  await ann.post('claims', { count: 1 });
  const rotated = await rotateModerator(service.core, 'Ann');
  if ('refused' in rotated) throw new Error(rotated.refused);
  t.not(rotated.token, ann.token);
  t.equal((await me(service, cookie)).status, 401);
  t.equal((await ann.get('me')).status, 401, 'the old token is refused');
  t.equal((await signIn(service, ann.token)).status, 401);
  const again = await signIn(service, rotated.token);
  t.equal(again.status, 200);
  const { rows } = await service.database.pool.query('SELECT * FROM note_leases');
  t.same(rows, []);

  t.match(await revokeModerator(service.core, ann.id), { id: ann.id });
  t.equal((await me(service, readCookie(again))).status, 401);
  t.equal((await signIn(service, rotated.token)).status, 401);
  t.match(await rotateModerator(service.core, 'Ann'), { refused: 'not_found' });
  t.match(await revokeModerator(service.core, 'Ann'), { refused: 'not_found' });
});

t.test('refuses a waiting request whose token is rotated or whose session ends', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const member = await signedIn(service);
  const memberNote = { attribution: 'member', name: '', member_handle: member.handle };
  const note = await submit(service, memberNote, member.cookie);
  const ann = await addModerator(service, 'Ann');
  const bob = await addModerator(service, 'Bob');
  const cookie = readCookie(await signIn(service, bob.token));
  const approval = { action: 'approve', expected_version: 1 };
  const path = `/api/moderation/notes/${note.id}/decisions`;

  // A decision locks the note's author before it checks the moderator.
  const byToken = await whileWaitingForLock(
    pool,
    'SELECT FROM feed_heads FOR UPDATE',
    () => ann.post(`notes/${note.id}/decisions`, approval),
    () => rotateModerator(service.core, 'Ann'),
  );
  t.match(byToken, { status: 401, body: { status: 'moderator_required' } });
  const bySession = await whileWaitingForLock(
    pool,
    'SELECT FROM feed_heads FOR UPDATE',
    () => service.call('POST', path, { body: approval, cookie }),
    () => service.call('DELETE', PATH, { cookie }),
  );
  t.match(bySession, { status: 401, body: { status: 'moderator_required' } });

  const again = readCookie(await signIn(service, bob.token));
  for (const headers of [{}, { 'idempotency-key': randomUUID() }]) {
    const session = readCookie(await signIn(service, bob.token));
    const claimed = await whileWaitingForLock(
      pool,
      'SELECT FROM moderators FOR UPDATE',
      () =>
        service.call('POST', '/api/moderation/claims', {
          body: { count: 1 },
          cookie: session,
          headers,
        }),
      () => service.call('DELETE', PATH, { cookie: session }),
    );
    t.match(claimed, { status: 401, body: { status: 'moderator_required' } });
    t.same((await pool.query('SELECT FROM note_leases')).rowCount, 0);
  }
  const { rows } = await pool.query('SELECT state FROM notes');
  t.same(rows, [{ state: 'pending' }]);
  const decided = await service.call('POST', path, { body: approval, cookie: again });
  t.equal(decided.status, 201, 'another session may decide');
});

t.test('counts sign-in attempts by address and ignores malformed bodies', async (t) => {
  const service = await startService(t, { LIMIT_KEY_ATTEMPTS: '2' });
  const ann = await addModerator(service, 'Ann');
  t.equal((await service.call('POST', PATH, { body: {} })).status, 400);
  t.equal((await signIn(service, 'mod_wrong')).status, 401);
  t.equal((await signIn(service, ann.token)).status, 200);
  const limited = await signIn(service, ann.token);
  t.equal(limited.status, 429);
  t.equal(limited.headers.get('retry-after'), '600');
  t.equal((await ann.get('me')).status, 200, 'bearers are not counted');
});
