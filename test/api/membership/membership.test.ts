import { randomUUID } from 'node:crypto';
import t from 'tap';
import { readCookie } from '../../../harness/api.ts';
import { newKey, newRegistration, signedIn } from '../../../harness/registration.ts';
import { startService } from '../../support/service.ts';

t.test('answers a registration with the member, and an exact retry with the same', async (t) => {
  const service = await startService(t);
  const body = newRegistration();
  const first = await service.call('POST', '/api/membership/register', { body });
  t.equal(first.status, 200);
  t.same(first.body, {
    status: 'registered',
    id: body.id,
    member: {
      id: body.id,
      handle: body.handle,
      identity: 'chosen_service_handle',
      network_verified: false,
    },
  });
  const again = await service.call('POST', '/api/membership/register', { body });
  t.equal(again.text, first.text);
  const { rows } = await service.database.pool.query('SELECT type FROM events');
  t.same(rows, [{ type: 'MemberRegistered' }]);
  t.equal(first.headers.get('x-contract-version'), 'service-api-2026-09-12');
  t.equal(first.headers.get('cache-control'), 'no-store');
  t.notMatch(service.logged.join(''), body.sign_in_key);
  t.match(service.logged.join(''), first.headers.get('x-request-id') ?? 'none');
});

t.test('refuses a registration that reuses an id or handle and changes nothing', async (t) => {
  const service = await startService(t);
  const body = newRegistration();
  await service.call('POST', '/api/membership/register', { body });
  for (const other of [
    { ...body, handle: 'another' },
    { ...body, sign_in_key: newKey() },
    { ...body, recovery_key: newKey() },
    { ...newRegistration(), handle: body.handle },
  ]) {
    const answer = await service.call('POST', '/api/membership/register', { body: other });
    t.equal(answer.status, 409);
    t.equal(answer.body.error.code, 'registration_conflict');
  }
  const { rows } = await service.database.pool.query('SELECT count(*)::int FROM events');
  t.equal(rows[0].count, 1);
});

t.test('refuses a malformed body with the field and does not count it', async (t) => {
  const service = await startService(t, { LIMIT_KEY_ATTEMPTS: '1' });
  const valid = newRegistration();
  for (const [body, code, path] of [
    [{ ...valid, handle: 'No' }, 'invalid_request', 'handle'],
    [{ ...valid, extra: 1 }, 'invalid_request', 'extra'],
    [{ ...valid, recovery_key: valid.sign_in_key }, 'invalid_request', 'recovery_key'],
    ['{"id":1,"id":2}', 'invalid_json', undefined],
    ['[]', 'invalid_json', undefined],
    ['{"a":"\\ud800"}', 'invalid_json', undefined],
  ] as const) {
    const answer = await service.call('POST', '/api/membership/register', { body });
    t.equal(answer.status, 400);
    t.equal(answer.body.status, code);
    if (path !== undefined) t.equal(answer.body.error.issues[0].path, path);
  }
  const answer = await service.call('POST', '/api/membership/register', { body: valid });
  t.equal(answer.status, 200);
});

t.test('checks origin, site, type, size and method as the contract orders them', async (t) => {
  const service = await startService(t);
  const body = newRegistration();
  const path = '/api/membership/register';
  const foreignOrigin = { origin: 'https://elsewhere.example' };
  t.equal((await service.call('POST', path, { body, headers: foreignOrigin })).status, 403);
  const cross = await service.call('POST', path, {
    body,
    headers: { 'sec-fetch-site': 'cross-site' },
  });
  t.equal(cross.status, 403);
  const text = await service.call('POST', path, {
    body,
    headers: { 'content-type': 'text/plain' },
  });
  t.equal(text.status, 415);
  const large = await service.call('POST', path, { body: ' '.repeat(5000) });
  t.equal(large.status, 413);
  const method = await service.call('DELETE', path);
  t.equal(method.status, 405);
  t.equal(method.headers.get('allow'), 'POST');
  t.equal((await service.call('POST', `${path}/`, { body })).status, 404);
  t.equal((await service.call('POST', '/api/Membership/register', { body })).status, 404);
});

t.test('allows twenty attempts in ten minutes and asks the next caller to wait', async (t) => {
  const service = await startService(t, { LIMIT_KEY_ATTEMPTS: '20' });
  const body = { id: randomUUID(), sign_in_key: newKey() };
  const answers: Awaited<ReturnType<typeof service.call>>[] = [];
  // Five at a time: 25 would wait for each other beyond the deadline of a request on a busy machine.
  const attempts = async () => {
    for (let n = 0; n < 5; n++)
      answers.push(await service.call('POST', '/api/membership/login', { body }));
  };
  await Promise.all(Array.from({ length: 5 }, attempts));
  t.equal(answers.filter(({ status }) => status === 401).length, 20);
  const limited = answers.filter(({ status }) => status === 429);
  t.equal(limited.length, 5);
  t.equal(limited[0]?.headers.get('retry-after'), '600');
});

t.test('counts registrations, sign-ins and recoveries together', async (t) => {
  const service = await startService(t, { LIMIT_KEY_ATTEMPTS: '3' });
  const { handle, sign_in_key, recovery_key, id } = newRegistration();
  const recovery = { new_sign_in_key: newKey(), new_recovery_key: newKey() };
  const bodies = {
    register: { id, handle, sign_in_key, recovery_key },
    login: { id, sign_in_key },
    recover: { id, recovery_key, ...recovery, operation_id: randomUUID() },
  };
  for (const status of [200, 429])
    for (const [name, body] of Object.entries(bodies))
      t.equal((await service.call('POST', `/api/membership/${name}`, { body })).status, status);
});

t.test('allows three concurrent registrations per day and address', async (t) => {
  const service = await startService(t, { LIMIT_REGISTRATIONS_PER_DAY: '3' });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      service.call('POST', '/api/membership/register', { body: newRegistration() }),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 3);
  t.equal(answers.filter(({ status }) => status === 429).length, 5);
  await service.database.pool.query(
    "UPDATE rate_counters SET window_start = window_start - interval '1 day'",
  );
  const next = await service.call('POST', '/api/membership/register', { body: newRegistration() });
  t.equal(next.status, 200, 'the next day is allowed');
});

t.test('accepts the configured number of members and each handle once', async (t) => {
  const service = await startService(t, { LIMIT_MEMBERS: '2' });
  const handle = 'wanted';
  const answers = await Promise.all(
    Array.from({ length: 6 }, () =>
      service.call('POST', '/api/membership/register', { body: { ...newRegistration(), handle } }),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  t.equal(answers.filter(({ status }) => status === 409).length, 5);
  await service.call('POST', '/api/membership/register', { body: newRegistration() });
  const full = await service.call('POST', '/api/membership/register', { body: newRegistration() });
  t.equal(full.status, 503);
  t.equal(full.body.status, 'capacity_reached');
});

t.test('signs a member in and out', async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const me = await service.call('GET', '/api/membership/me', { cookie: member.cookie });
  t.equal(me.status, 200);
  t.equal(me.body.member.handle, member.handle);
  const out = await service.call('POST', '/api/membership/logout', {
    body: {},
    cookie: member.cookie,
  });
  t.same(out.body, { status: 'signed_out' });
  t.match(out.headers.get('set-cookie'), /Max-Age=0/);
  const after = await service.call('GET', '/api/membership/me', { cookie: member.cookie });
  t.equal(after.status, 401);
  t.same(after.body, { status: 'session_required' });
});

t.test('ends only the session whose cookie a sign-in sends', async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const body = { id: member.id, sign_in_key: member.sign_in_key };
  const other = readCookie(await service.call('POST', '/api/membership/login', { body }));
  const next = readCookie(
    await service.call('POST', '/api/membership/login', { body, cookie: member.cookie }),
  );
  const status = async (cookie: string) =>
    (await service.call('GET', '/api/membership/me', { cookie })).status;
  t.same([await status(member.cookie), await status(other), await status(next)], [401, 200, 200]);
});

t.test('ends no session by its id alone', async (t) => {
  const service = await startService(t);
  const [member, other] = [await signedIn(service), await signedIn(service)];
  const forged = member.cookie.replace(/[0-9a-f]{64}$/, newKey());
  const body = { id: other.id, sign_in_key: other.sign_in_key };
  await service.call('POST', '/api/membership/login', { body, cookie: forged });
  await service.call('POST', '/api/membership/logout', { body: {}, cookie: forged });
  const status = async (cookie: string) =>
    (await service.call('GET', '/api/membership/me', { cookie })).status;
  t.same([await status(forged), await status(member.cookie)], [401, 200]);
});

t.test('replaces keys and ends sessions on recovery, and answers its retry', async (t) => {
  const service = await startService(t);
  const member = await signedIn(service);
  const body = {
    id: member.id,
    recovery_key: member.recovery_key,
    new_sign_in_key: newKey(),
    new_recovery_key: newKey(),
    operation_id: randomUUID(),
  };
  const recover = (change: object) =>
    service.call('POST', '/api/membership/recover', { body: { ...body, ...change } });
  t.equal((await recover({ recovery_key: newKey() })).status, 401);
  for (const key of [member.sign_in_key, member.recovery_key]) {
    t.equal((await recover({ new_sign_in_key: key })).status, 400);
    t.equal((await recover({ new_recovery_key: key })).status, 400);
  }
  t.equal((await recover({ new_recovery_key: body.new_sign_in_key })).status, 400);

  const done = await recover({});
  t.same(done.body, { status: 'recovered', id: member.id });
  t.equal((await service.call('GET', '/api/membership/me', { cookie: member.cookie })).status, 401);
  t.equal((await recover({})).text, done.text);
  t.equal((await recover({ new_sign_in_key: newKey() })).status, 401);
  const reused = { recovery_key: body.new_recovery_key, new_sign_in_key: newKey() };
  t.equal((await recover(reused)).status, 400);

  const login = (sign_in_key: string) =>
    service.call('POST', '/api/membership/login', { body: { id: member.id, sign_in_key } });
  t.equal((await login(member.sign_in_key)).status, 401);
  t.equal((await login(body.new_sign_in_key)).status, 200);

  const registered = await service.call('POST', '/api/membership/register', {
    body: {
      id: member.id,
      handle: member.handle,
      sign_in_key: member.sign_in_key,
      recovery_key: member.recovery_key,
    },
  });
  t.equal(registered.status, 200);
  const { rows } = await service.database.pool.query(
    'SELECT type, data FROM feed WHERE member_id = $1 ORDER BY sequence',
    [member.id],
  );
  t.same(rows[2].data, { operation_id: body.operation_id });
  t.same(
    rows.map(({ type }) => type),
    [
      'member.registered',
      'session.started',
      'member.recovered',
      'session.ended',
      'session.started',
    ],
  );
});

t.test('refuses registrations when admission is closed', async (t) => {
  const service = await startService(t, { MEMBERSHIP_OPEN: 'false' });
  const answer = await service.call('POST', '/api/membership/register', {
    body: newRegistration(),
  });
  t.equal(answer.status, 503);
  t.equal(answer.body.status, 'admission_closed');
});
