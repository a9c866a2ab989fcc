import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { type ApiResponse, readCookie } from '../../../harness/api.ts';
import {
  type Authenticator,
  createAuthenticator,
  type Differences,
  type KeyKind,
  USER_VERIFIED,
} from '../../../harness/authenticator.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { newKey, signedIn } from '../../../harness/registration.ts';
import { dropEveryPasskey } from '../../../services/passkeys/passkeys.ts';
import { sweepChallenges } from '../../../workers/passkeys/sweep-challenges.ts';
import { type Service, startService } from '../../support/service.ts';
import { recordWork } from '../../support/work-done.ts';

const PATH = '/api/membership/passkeys';

type Member = Awaited<ReturnType<typeof signedIn>>;

/** Passkeys need a host with a name. */
const startWithHost = (t: Test, settings: Record<string, string> = {}) =>
  startService(t, { TEST_HOST: 'localhost', ...settings });

const post = (service: Service, path: string, body: object, cookie?: string) =>
  service.call('POST', `${PATH}${path}`, { body, cookie });

async function challenge(service: Service, path: string, cookie?: string) {
  const answer = await post(service, `${path}/challenge`, {}, cookie);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.options;
}

/** Adds a passkey as the page does. */
async function add(
  service: Service,
  { cookie, sign_in_key }: Pick<Member, 'cookie' | 'sign_in_key'>,
  authenticator: Authenticator,
  other: Differences = {},
) {
  const credential = authenticator.register(await challenge(service, '', cookie), other);
  return post(service, '', { name: 'Laptop', sign_in_key, credential }, cookie);
}

/** Signs in as the page does. */
async function signIn(
  service: Service,
  authenticator: Authenticator,
  other: Differences = {},
  cookie?: string,
) {
  const credential = authenticator.signIn(await challenge(service, '/session'), other);
  return post(service, '/session', { credential }, cookie);
}

/** A service with a member who has a passkey. */
async function startWithPasskey(t: Test, kind: KeyKind = 'ES256', counts = false) {
  const service = await startWithHost(t);
  const member = await signedIn(service);
  const authenticator = createAuthenticator(service.baseUrl, kind, counts);
  const added = await add(service, member, authenticator);
  t.equal(added.status, 200, added.text);
  return { service, member, authenticator, passkey: added.body.passkey };
}

const list = async (service: Service, cookie: string) =>
  (await service.call('GET', PATH, { cookie })).body.passkeys;

const countRows = async ({ database }: Service, table: string) =>
  (await database.pool.query(`SELECT count(*)::int FROM ${table}`)).rows[0].count;

/** What a stranger could compare: everything of a response but its id, its time and what is left. */
const comparable = ({ status, body, headers }: ApiResponse) => {
  const { request_id: _, ...error } = body.error;
  const shown = [...headers].filter(([name]) => !/^(date|x-request-id|ratelimit)/.test(name));
  return { status, state: body.status, error, shown };
};

for (const kind of ['ES256', 'EdDSA', 'RS256'] as const)
  t.test(`adds a passkey with ${kind} and signs in with it`, async (t) => {
    const { service, member, authenticator, passkey } = await startWithPasskey(t, kind);
    t.match(passkey, { name: 'Laptop', last_used_on: null });
    const answer = await signIn(service, authenticator);
    t.match(answer, { status: 200, body: { status: 'signed_in', id: member.id } });
    const cookie = readCookie(answer);
    const me = await service.call('GET', '/api/membership/me', { cookie });
    t.match(me.body, { id: member.id, member: { handle: member.handle } });
    const left = me.body.expires_at - Date.now() / 1000;
    t.ok(left > 1700 && left <= 1801, 'a session like any other');
    const [{ last_used_on }] = await list(service, cookie);
    t.equal(last_used_on, new Date().toISOString().slice(0, 10));
  });

t.test('asks for a passkey that its device finds by itself and that verifies people', async (t) => {
  const { service, member, authenticator } = await startWithPasskey(t);
  const creation = await challenge(service, '', member.cookie);
  t.match(creation, {
    rp: { id: 'localhost' },
    user: {
      name: member.handle,
      id: Buffer.from(member.id.replaceAll('-', ''), 'hex').toString('base64url'),
    },
    pubKeyCredParams: [{ alg: -7 }, { alg: -8 }, { alg: -257 }],
    excludeCredentials: [{ id: authenticator.id, transports: ['internal'] }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
  });
  t.equal(Buffer.from(creation.challenge, 'base64url').length, 32);
  const request = await challenge(service, '/session');
  t.equal(Buffer.from(request.challenge, 'base64url').length, 32);
  t.not(request.challenge, creation.challenge);
  t.match(request, { rpId: 'localhost', userVerification: 'required' });
  t.notOk('allowCredentials' in request, 'callers do not learn which passkeys there are');
});

t.test('has no passkeys where the base URL has an address for a host', async (t) => {
  const service = await startService(t);
  const { cookie, sign_in_key } = await signedIn(service);
  const authenticator = createAuthenticator(service.baseUrl);
  const options = { challenge: newKey(), rp: { id: '127.0.0.1' }, rpId: '127.0.0.1' };
  for (const answer of [
    await post(service, '/challenge', {}, cookie),
    await post(
      service,
      '',
      { name: 'A', sign_in_key, credential: authenticator.register(options) },
      cookie,
    ),
    await post(service, '/session/challenge', {}),
    await post(service, '/session', {
      credential: {
        ...authenticator.signIn(options),
        response: { ...authenticator.signIn(options).response, userHandle: 'AA' },
      },
    }),
  ])
    t.match(answer, { status: 503, body: { status: 'api_disabled' } });
  t.same(await list(service, cookie), []);
});

/** What a passkey must not be accepted with, whether it is added or signs in. */
const ATTACKS: Readonly<Record<string, (baseUrl: string) => Differences>> = {
  'another origin': () => ({ origin: 'https://guestbook.example' }),
  'an origin with another port': (baseUrl) => ({ origin: `${baseUrl}0` }),
  'a frame of another page': () => ({ crossOrigin: true }),
  'a page around it': () => ({ topOrigin: 'https://elsewhere.example' }),
  'another host': () => ({ rpId: 'guestbook.example' }),
  'a host above': () => ({ rpId: 'host' }),
  'no verified user': () => ({ without: USER_VERIFIED }),
  'a challenge that was never given': () => ({ challenge: randomBytes(32).toString('base64url') }),
};

t.test('accepts no answer that was made elsewhere or for something else', async (t) => {
  const { service, member, authenticator } = await startWithPasskey(t);
  for (const [name, attack] of Object.entries(ATTACKS)) {
    const differences = attack(service.baseUrl);
    const added = await add(service, member, createAuthenticator(service.baseUrl), differences);
    t.match(added, { status: 401, body: { status: 'credentials_not_accepted' } }, `add: ${name}`);
    const entered = await signIn(service, authenticator, differences);
    t.match(entered, { status: 401, body: { status: 'credentials_not_accepted' } }, name);
    t.equal(entered.headers.get('set-cookie'), null);
  }
  const swapped = { type: 'webauthn.get' };
  t.equal((await add(service, member, createAuthenticator(service.baseUrl), swapped)).status, 401);
  t.equal((await signIn(service, authenticator, { type: 'webauthn.create' })).status, 401);
  t.equal((await list(service, member.cookie)).length, 1);
  t.equal((await signIn(service, authenticator)).status, 200, 'nothing of this has ended it');
});

t.test(
  'accepts passkeys of the base URL alone, also behind a proxy that forwards another address',
  async (t) => {
    const inner = await startService(t, {
      BASE_URL: 'HTTPS://Guestbook.Example:8443/',
      TRUSTED_PROXIES: '1',
    });
    const baseUrl = 'https://guestbook.example:8443';
    const forwarded = {
      origin: baseUrl,
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'elsewhere.example',
    };
    const service: Service = {
      ...inner,
      baseUrl,
      call: (method, path, options = {}) =>
        inner.call(method, path, { ...options, headers: { ...forwarded, ...options.headers } }),
    };
    const member = await signedIn(service);
    const authenticator = createAuthenticator(baseUrl);
    t.equal((await add(service, member, authenticator)).status, 200);
    t.equal((await challenge(service, '/session')).rpId, 'guestbook.example');
    t.equal((await signIn(service, authenticator)).status, 200);
    for (const origin of [
      inner.baseUrl,
      'HTTPS://Guestbook.Example:8443/',
      'https://Guestbook.Example:8443',
      'https://guestbook.example:8443/',
      'https://guestbook.example',
      'http://guestbook.example:8443',
      'https://elsewhere.example',
      'https://guestbook.example:8443.elsewhere.example',
    ]) {
      const refused = { status: 401, body: { status: 'credentials_not_accepted' } };
      t.match(await signIn(service, authenticator, { origin }), refused, origin);
      t.match(
        await add(service, member, createAuthenticator(baseUrl), { origin }),
        refused,
        origin,
      );
      // A page there cannot ask for a challenge, and learns the right address, which none of its headers has.
      const asked = { body: {}, cookie: member.cookie, headers: { origin } };
      const { status, body } = await service.call('POST', `${PATH}/challenge`, asked);
      t.same([status, body.error.expected_origin], [403, baseUrl], origin);
    }
  },
);

t.test('accepts no other algorithm and no attestation', async (t) => {
  const service = await startWithHost(t);
  const member = await signedIn(service);
  const other = createAuthenticator(service.baseUrl, 'ES384');
  t.equal((await add(service, member, other)).status, 401);
  for (const format of [
    'fido-u2f',
    'packed',
    'tpm',
    'apple',
    'android-key',
    'android-safetynet',
    'x',
  ])
    t.equal(
      (await add(service, member, createAuthenticator(service.baseUrl), { format })).status,
      401,
      format,
    );
  t.equal(await countRows(service, 'passkeys'), 0);
});

t.test('refuses bodies that are malformed or too large before any work', async (t) => {
  const { service, member, authenticator } = await startWithPasskey(t);
  const options = await challenge(service, '/session');
  const valid = authenticator.signIn(options);
  const withResponse = (more: object) => ({
    credential: { ...valid, response: { ...valid.response, ...more } },
  });
  for (const body of [
    { credential: { ...valid, id: 'not base64url!' } },
    { credential: { ...valid, id: 'A'.repeat(1365) } },
    { credential: { ...valid, rawId: valid.id } },
    withResponse({ signature: 'A'.repeat(1025) }),
    withResponse({ authenticatorData: '' }),
    withResponse({ userHandle: 'A'.repeat(87) }),
    withResponse({ clientDataJSON: 'A'.repeat(2049) }),
    { credential: valid, id: member.id },
  ])
    t.equal((await post(service, '/session', body)).status, 400);
  const large = await post(service, '/session', withResponse({ signature: 'A'.repeat(9000) }));
  t.equal(large.status, 413);
  const garbage = [
    'AAAA',
    Buffer.from('[]').toString('base64url'),
    Buffer.from('{}').toString('base64url'),
  ];
  for (const clientDataJSON of garbage)
    t.equal((await post(service, '/session', withResponse({ clientDataJSON }))).status, 401);
  for (const authenticatorData of ['AA', 'A'.repeat(200)])
    t.equal((await post(service, '/session', withResponse({ authenticatorData }))).status, 401);
  t.equal((await post(service, '/session', { credential: valid })).status, 200);
});

t.test('answers each challenge once', async (t) => {
  const { service, member, authenticator } = await startWithPasskey(t);
  const credential = authenticator.signIn(await challenge(service, '/session'));
  t.equal((await post(service, '/session', { credential })).status, 200);
  t.equal((await post(service, '/session', { credential })).status, 401, 'a replay');

  const parallel = authenticator.signIn(await challenge(service, '/session'));
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => post(service, '/session', { credential: parallel })),
  );
  t.same(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);

  const options = await challenge(service, '', member.cookie);
  const adding = [1, 2, 3].map(() => ({
    name: 'Laptop',
    sign_in_key: member.sign_in_key,
    credential: createAuthenticator(service.baseUrl).register(options),
  }));
  const added = await Promise.all(adding.map((body) => post(service, '', body, member.cookie)));
  t.same(added.map(({ status }) => status).sort(), [200, 401, 401]);
});

t.test('gives one challenge to one of two members at a time', async (t) => {
  const { service, authenticator } = await startWithPasskey(t);
  const other = createAuthenticator(service.baseUrl);
  await add(service, await signedIn(service), other);
  for (let round = 0; round < 10; round++) {
    const options = await challenge(service, '/session');
    const answers = await Promise.all(
      [authenticator, other].map((one) =>
        post(service, '/session', { credential: one.signIn(options) }),
      ),
    );
    t.same(answers.map(({ status }) => status).sort(), [200, 401]);
  }
});

t.test(
  'binds a challenge to what it is for, to whom it was given, and to five minutes',
  async (t) => {
    const service = await startWithHost(t, { TRUSTED_PROXIES: '1' });
    const member = await signedIn(service);
    const { id, sign_in_key, cookie } = member;
    const authenticator = createAuthenticator(service.baseUrl);
    t.equal((await add(service, member, authenticator)).status, 200);
    const addWith = (options: { challenge: string }, from = cookie, key = sign_in_key) => {
      const credential = createAuthenticator(service.baseUrl).register({
        rp: { id: 'localhost' },
        user: { id: 'AA' },
        ...options,
      });
      return post(service, '', { name: 'Laptop', sign_in_key: key, credential }, from);
    };
    const enterWith = (options: { challenge: string }, headers = {}) => {
      const credential = authenticator.signIn({ rpId: 'localhost', ...options });
      return service.call('POST', `${PATH}/session`, { body: { credential }, headers });
    };

    t.equal((await addWith(await challenge(service, '/session'))).status, 401, 'of a sign-in');
    t.equal((await enterWith(await challenge(service, '', cookie))).status, 401, 'of an addition');

    const again = readCookie(
      await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } }),
    );
    t.equal((await addWith(await challenge(service, '', again))).status, 401, 'of another session');
    const other = await signedIn(service);
    t.equal((await addWith(await challenge(service, '', other.cookie))).status, 401, 'of another');

    const elsewhere = { 'x-forwarded-for': '203.0.113.9' };
    const options = await challenge(service, '/session');
    t.equal((await enterWith(options, elsewhere)).status, 401, 'of another address');
    t.equal((await enterWith(options)).status, 200);

    const late = [await challenge(service, '/session'), await challenge(service, '', cookie)];
    await service.database.pool.query(
      `UPDATE passkey_challenges SET expires_at = expires_at - interval '300 seconds'`,
    );
    t.equal((await enterWith(late[0])).status, 401);
    t.equal((await addWith(late[1])).status, 401);
  },
);

t.test(
  'keeps at most 5 challenges of a session and 20 of an address, and sweeps them',
  async (t) => {
    const service = await startWithHost(t);
    const member = await signedIn(service);
    const authenticator = createAuthenticator(service.baseUrl);
    t.equal((await add(service, member, authenticator)).status, 200);
    const ask = (path: string, cookie?: string) => challenge(service, path, cookie);
    await Promise.all(Array.from({ length: 12 }, () => ask('', member.cookie)));
    await Promise.all(Array.from({ length: 40 }, () => ask('/session')));
    const { rows } = await service.database.pool.query(
      'SELECT purpose, count(*)::int FROM passkey_challenges GROUP BY purpose ORDER BY purpose',
    );
    t.same(rows, [
      { purpose: 'add', count: 5 },
      { purpose: 'sign-in', count: 20 },
    ]);
    t.equal(
      (await signIn(service, authenticator)).status,
      200,
      'the newest has the place of the oldest',
    );
    t.equal(await sweepChallenges(service.core), 0);
    await service.database.pool.query(
      'UPDATE passkey_challenges SET expires_at = clock_timestamp()',
    );
    t.ok((await sweepChallenges(service.core)) >= 24);
    t.equal(await countRows(service, 'passkey_challenges'), 0);
  },
);

t.test('limits the challenges of an address', async (t) => {
  const service = await startWithHost(t, { LIMIT_KEY_ATTEMPTS: '3' });
  for (let n = 0; n < 3; n++) await challenge(service, '/session');
  t.equal((await post(service, '/session/challenge', {})).status, 429);
});

t.test('counts sign-ins with passkeys together with those by key', async (t) => {
  const service = await startWithHost(t, { LIMIT_KEY_ATTEMPTS: '4' });
  const member = await signedIn(service);
  const authenticator = createAuthenticator(service.baseUrl);
  t.equal((await add(service, member, authenticator)).status, 200, 'the third attempt');
  t.equal((await signIn(service, authenticator)).status, 200);
  t.equal((await signIn(service, authenticator)).status, 429);
  const { id, sign_in_key } = member;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal(login.status, 429);
});

t.test('adds a passkey only with the sign-in key, a live session and the origin', async (t) => {
  const { service, member, authenticator } = await startWithPasskey(t);
  const { cookie, sign_in_key, recovery_key } = member;
  const body = async (key: string | undefined, from = cookie) => ({
    name: 'Another',
    ...(key ? { sign_in_key: key } : {}),
    credential: createAuthenticator(service.baseUrl).register(await challenge(service, '', from)),
  });
  for (const key of [newKey(), recovery_key])
    t.match(await post(service, '', await body(key), cookie), {
      status: 401,
      body: { status: 'credentials_not_accepted' },
    });
  t.equal((await post(service, '', await body(undefined), cookie)).status, 400);
  t.match(await post(service, '', await body(sign_in_key)), {
    status: 401,
    body: { status: 'session_required' },
  });
  const foreign = await service.call('POST', PATH, {
    body: await body(sign_in_key),
    cookie,
    headers: { origin: 'https://elsewhere.example' },
  });
  t.equal(foreign.status, 403);

  const byPasskey = readCookie(await signIn(service, authenticator));
  t.equal((await post(service, '', await body(newKey(), byPasskey), byPasskey)).status, 401);
  t.equal((await list(service, cookie)).length, 1);
  t.equal((await post(service, '', await body(sign_in_key, byPasskey), byPasskey)).status, 200);
  t.notMatch(service.logged.join(''), sign_in_key);
});

t.test('adds no passkey to a session that ends meanwhile', async (t) => {
  const service = await startWithHost(t);
  const member = await signedIn(service);
  const credential = createAuthenticator(service.baseUrl).register(
    await challenge(service, '', member.cookie),
  );
  await service.call('POST', '/api/membership/logout', { body: {}, cookie: member.cookie });
  const body = { name: 'Laptop', sign_in_key: member.sign_in_key, credential };
  t.equal((await post(service, '', body, member.cookie)).status, 401);
  t.equal(await countRows(service, 'passkeys'), 0);
});

t.test('knows each passkey once, for every member, and ten of a member', async (t) => {
  const { service, member, authenticator } = await startWithPasskey(t);
  const own = await add(service, member, createAuthenticator(service.baseUrl), {
    id: authenticator.id,
  });
  const other = await signedIn(service);
  const foreign = await add(service, other, createAuthenticator(service.baseUrl), {
    id: authenticator.id,
  });
  t.match(own, { status: 409, body: { error: { reason: 'passkey_known' } } });
  t.strictSame(comparable(foreign), comparable(own), 'alike for own and foreign');

  const same = createAuthenticator(service.baseUrl);
  const both = await Promise.all([add(service, member, same), add(service, other, same)]);
  t.same(both.map(({ status }) => status).sort(), [200, 409], 'also at the same time');

  while ((await list(service, member.cookie)).length < 10)
    t.equal((await add(service, member, createAuthenticator(service.baseUrl))).status, 200);
  t.match(await add(service, member, createAuthenticator(service.baseUrl)), {
    status: 409,
    body: { error: { reason: 'passkey_limit', limit: 10 } },
  });
});

t.test('ends a passkey whose counter goes back, and says so to the operator alone', async (t) => {
  const { service, member, authenticator } = await startWithPasskey(t, 'ES256', true);
  t.equal((await signIn(service, authenticator)).status, 200);
  t.equal((await signIn(service, authenticator, { counter: 9 })).status, 200);
  const copied = await signIn(service, authenticator, { counter: 9 });
  t.equal(copied.status, 401);
  const unknown = await signIn(service, createAuthenticator(service.baseUrl), { userHandle: 'AA' });
  t.strictSame(comparable(copied), comparable(unknown));
  t.same(await list(service, member.cookie), []);
  t.equal((await signIn(service, authenticator, { counter: 10 })).status, 401);
  const { rows } = await service.database.pool.query(
    `SELECT data->>'reason' AS reason, actor->>'type' AS actor FROM events WHERE type = 'PasskeyRemoved'`,
  );
  t.same(rows, [{ reason: 'copied', actor: 'service' }]);
  const lines = service.logged.filter((line) => line.includes('passkey_copied'));
  t.match(lines, { length: 1 });
  t.match(JSON.parse(lines[0] ?? ''), { level: 'warn', member: member.id, msg: 'security' });
});

t.test('refuses every passkey that it does not accept alike, after the same work', async (t) => {
  const { service, member, authenticator } = await startWithPasskey(t);
  const removed = createAuthenticator(service.baseUrl);
  const { passkey } = (await add(service, member, removed)).body;
  await post(service, '/remove', { passkey_id: passkey.id }, member.cookie);
  const stranger = createAuthenticator(service.baseUrl);
  const other = await signedIn(service);
  const foreign = createAuthenticator(service.baseUrl);
  t.equal((await add(service, other, foreign)).status, 200);
  const handle = Buffer.from(member.id.replaceAll('-', ''), 'hex').toString('base64url');

  const attempts: Record<string, () => ReturnType<typeof signIn>> = {
    unknown: () => signIn(service, stranger, { userHandle: handle }),
    'removed by its member': () => signIn(service, removed),
    'of another key': () => signIn(service, stranger, { id: authenticator.id, userHandle: handle }),
    'a broken signature': () => signIn(service, authenticator, { signature: 'AAAA' }),
    'a foreign user': () => signIn(service, foreign, { userHandle: handle }),
    'without a user': () => signIn(service, authenticator, { userHandle: 'AA' }),
    'of another member': () => signIn(service, foreign, { id: authenticator.id }),
  };
  const expected = comparable((await attempts.unknown?.()) as ApiResponse);
  t.match(expected, { status: 401, state: 'credentials_not_accepted' });
  for (const [name, attempt] of Object.entries(attempts))
    t.strictSame(comparable(await attempt()), expected, name);
  const works = [];
  for (const name of ['unknown', 'removed by its member', 'of another key'])
    works.push(await recordWork(attempts[name] as () => Promise<unknown>));
  t.strictSame(works[1], works[0]);
  t.strictSame(works[2], works[0]);
  t.match(service.logged.join(''), 'sign_in_failed');
});

t.test('opens a session in place of that of the cookie, and gives nothing else', async (t) => {
  const { service, member, authenticator } = await startWithPasskey(t);
  const cookie = readCookie(await signIn(service, authenticator, {}, member.cookie));
  const me = (from: string) => service.call('GET', '/api/membership/me', { cookie: from });
  t.equal((await me(member.cookie)).status, 401, 'replaced');
  t.equal((await me(cookie)).status, 200);
  t.equal((await service.call('GET', '/api/v1/me', { cookie })).status, 401, 'no bearer');
  await service.call('POST', '/api/membership/recover', {
    body: {
      id: member.id,
      recovery_key: member.recovery_key,
      new_sign_in_key: newKey(),
      new_recovery_key: newKey(),
      operation_id: crypto.randomUUID(),
    },
  });
  t.equal((await me(cookie)).status, 401, 'a recovery ends it');
});

t.test('lists, renames and removes own passkeys alone', async (t) => {
  const { service, member, authenticator, passkey } = await startWithPasskey(t);
  const other = await signedIn(service);
  const [id, name] = [passkey.id, 'Old laptop'];
  t.match(await post(service, '/rename', { passkey_id: id, name }, member.cookie), {
    status: 200,
    body: { status: 'renamed', passkey: { id, name } },
  });
  t.match(await list(service, member.cookie), [{ id, name }]);
  t.same(await list(service, other.cookie), []);
  for (const [path, body] of [
    ['/rename', { name }],
    ['/remove', {}],
  ] as const) {
    const foreign = await post(service, path, { passkey_id: id, ...body }, other.cookie);
    const unknown = { passkey_id: crypto.randomUUID(), ...body };
    t.equal(foreign.status, 404);
    t.strictSame(comparable(await post(service, path, unknown, other.cookie)), comparable(foreign));
  }
  for (const bad of ['', ' ', 'x'.repeat(61)])
    t.equal(
      (await post(service, '/rename', { passkey_id: id, name: bad }, member.cookie)).status,
      400,
    );
  t.match(await post(service, '/remove', { passkey_id: id }, member.cookie), {
    status: 200,
    body: { status: 'removed', passkey: { id } },
  });
  t.equal((await signIn(service, authenticator)).status, 401);
  t.equal((await post(service, '/remove', { passkey_id: id }, member.cookie)).status, 404);
  const logged = service.logged.join('');
  t.match(logged, 'passkey_added');
  t.match(logged, 'passkey_removed');
});

const ENDS: Readonly<Record<string, (service: Service, member: Member) => Promise<unknown>>> = {
  recovery: (service, { id, recovery_key }) =>
    service.call('POST', '/api/membership/recover', {
      body: {
        id,
        recovery_key,
        new_sign_in_key: newKey(),
        new_recovery_key: newKey(),
        operation_id: crypto.randomUUID(),
      },
    }),
  disabled: async (service, { id }) => {
    const lead = await addModerator(service, 'Lea', 'lead');
    const body = { policy: 'spam', message: null, until: null };
    await lead.post(`members/${id}/disable`, body);
    await lead.post(`members/${id}/enable`, {});
  },
};

for (const [reason, end] of Object.entries(ENDS))
  t.test(`ends every passkey in the transaction: ${reason}`, async (t) => {
    const { service, member, authenticator } = await startWithPasskey(t);
    t.equal((await add(service, member, createAuthenticator(service.baseUrl))).status, 200);
    const { pool } = service.database;
    const before = (await pool.query('SELECT * FROM passkeys')).rows;
    await end(service, member);
    t.equal(await countRows(service, 'passkeys'), 0);
    t.equal((await signIn(service, authenticator)).status, 401);
    const { rows } = await pool.query(
      `SELECT data->>'reason' AS reason FROM events WHERE type = 'PasskeyRemoved'`,
    );
    t.same(rows, [{ reason }, { reason }]);
    // The key epoch decides, even if a row is still there.
    for (const row of before)
      await pool.query(
        `INSERT INTO passkeys SELECT * FROM json_populate_record(NULL::passkeys, $1)`,
        [JSON.stringify(row)],
      );
    t.equal((await signIn(service, authenticator)).status, 401);
  });

t.test('ends every passkey with the account, and when a log was restored', async (t) => {
  const service = await startWithHost(t);
  const agent = await newAgent(service);
  const { id, sign_in_key } = agent;
  const login = { body: { id, sign_in_key } };
  const cookie = readCookie(await service.call('POST', '/api/membership/login', login));
  const authenticator = createAuthenticator(service.baseUrl);
  t.equal((await add(service, { cookie, sign_in_key }, authenticator)).status, 200);
  await agent.call('POST', '/api/v1/me/delete', { confirm_handle: agent.handle });
  t.equal(await countRows(service, 'passkeys'), 0);
  t.equal((await signIn(service, authenticator)).status, 401);

  const other = createAuthenticator(service.baseUrl);
  t.equal((await add(service, await signedIn(service), other)).status, 200);
  await service.database.pool.query(dropEveryPasskey());
  t.equal((await signIn(service, other)).status, 401);
});

t.test(
  'keeps key, name and id of a passkey out of the log, and exports it without its key',
  async (t) => {
    const service = await startWithHost(t);
    const agent = await newAgent(service);
    const { id, sign_in_key } = agent;
    const login = { body: { id, sign_in_key } };
    const cookie = readCookie(await service.call('POST', '/api/membership/login', login));
    const authenticator = createAuthenticator(service.baseUrl);
    const { passkey } = (await add(service, { cookie, sign_in_key }, authenticator)).body;
    const { pool } = service.database;
    const [row] = (await pool.query('SELECT * FROM passkeys')).rows;
    const log = JSON.stringify((await pool.query('SELECT * FROM events')).rows);
    const receipts = JSON.stringify((await pool.query('SELECT * FROM receipts')).rows);
    for (const secret of [row.public_key, row.credential_id, 'Laptop', sign_in_key]) {
      t.notMatch(log, secret);
      t.notMatch(receipts, secret);
      t.notMatch(service.logged.join(''), secret);
    }
    const document = await agent.call('GET', '/api/v1/me/export');
    t.strictSame(document.body.passkeys, [passkey]);
    t.notMatch(document.text, row.public_key);
    t.notMatch(document.text, row.credential_id);
    const feed = await agent.call('GET', '/api/v1/updates?types=passkey.*');
    t.match(feed.body.events, [
      { type: 'passkey.added', subject: { type: 'passkey', id: passkey.id }, data: {} },
    ]);
  },
);

t.test('lets pages use passkeys of this origin, and no frame', async (t) => {
  const service = await startWithHost(t);
  for (const path of ['/', '/me', '/moderation', '/about']) {
    const { headers } = await service.call('GET', path, { headers: { accept: 'text/html' } });
    const policy = headers.get('permissions-policy') ?? '';
    t.match(policy, 'publickey-credentials-create=(self)');
    t.match(policy, 'publickey-credentials-get=(self)');
  }
});
