import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { newKey } from '../../../harness/registration.ts';
import { type Service, startService } from '../../support/service.ts';

const PATH = '/api/membership/sign-in';

const signIn = (service: Service, handle: string, sign_in_key: string, cookie?: string) =>
  service.call('POST', PATH, { body: { handle, sign_in_key }, ...(cookie ? { cookie } : {}) });

t.test('opens a session with the handle and the sign-in key', async (t) => {
  const service = await startService(t);
  const member = await newAgent(service);
  const answer = await signIn(service, member.handle, member.sign_in_key);
  t.match(answer, { status: 200, body: { status: 'signed_in', id: member.id } });
  t.equal(answer.headers.get('cache-control'), 'no-store');
  const cookie = readCookie(answer);
  const me = await service.call('GET', '/api/membership/me', { cookie });
  t.match(me.body, { id: member.id, member: { handle: member.handle } });

  const again = readCookie(await signIn(service, member.handle, member.sign_in_key, cookie));
  t.equal((await service.call('GET', '/api/membership/me', { cookie })).status, 401, 'replaced');
  t.equal((await service.call('GET', '/api/membership/me', { cookie: again })).status, 200);
});

t.test('refuses what is no handle, another origin and a foreign key', async (t) => {
  const service = await startService(t);
  const member = await newAgent(service);
  const { sign_in_key } = member;
  for (const handle of [member.id, 'No', member.handle.toUpperCase(), `${member.handle} `])
    t.match(await signIn(service, handle, sign_in_key), {
      status: 400,
      body: { error: { issues: [{ path: 'handle' }] } },
    });
  const elsewhere = await service.call('POST', PATH, {
    body: { handle: member.handle, sign_in_key },
    headers: { origin: 'https://elsewhere.example' },
  });
  t.equal(elsewhere.status, 403);
  const other = await newAgent(service);
  const foreign = await signIn(service, other.handle, sign_in_key);
  t.match(foreign, { status: 401, body: { error: { code: 'credentials_not_accepted' } } });
  t.equal(foreign.headers.get('set-cookie'), null);
});

t.test('counts attempts together with those by id', async (t) => {
  const service = await startService(t, { LIMIT_KEY_ATTEMPTS: '4' });
  const { id, handle, sign_in_key } = await newAgent(service);
  await service.call('POST', '/api/membership/login', { body: { id, sign_in_key: newKey() } });
  t.equal((await signIn(service, 'nobody_at_all', newKey())).status, 401);
  t.equal((await signIn(service, handle, newKey())).status, 401);
  t.equal((await signIn(service, handle, sign_in_key)).status, 429);
  const byId = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal(byId.status, 429);
});

t.test('says to a disabled member with the right key what the member id is', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const member = await newAgent(service);
  await lead.post(`members/${member.id}/disable`, { policy: 'spam', message: null, until: null });
  const wrong = await signIn(service, member.handle, newKey());
  const unknown = await signIn(service, 'nobody_at_all', newKey());
  const detailsOf = ({ body }: typeof wrong) => ({ ...body.error, request_id: '' });
  t.strictSame(detailsOf(wrong), detailsOf(unknown));
  t.match(await signIn(service, member.handle, member.sign_in_key), {
    status: 401,
    body: { error: { reason: 'membership_disabled', member_id: member.id } },
  });
});

t.test('logs a failed attempt as a security event, without the key', async (t) => {
  const service = await startService(t);
  const { handle } = await newAgent(service);
  const key = newKey();
  await signIn(service, handle, key);
  t.match(service.logged.join(''), 'sign_in_failed');
  t.notMatch(service.logged.join(''), key);
});
