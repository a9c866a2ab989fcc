import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { asking, VERSION } from '../../../harness/a2a.ts';
import { newAgent } from '../../../harness/agent.ts';
import type { ApiResponse } from '../../../harness/api.ts';
import { newCase } from '../../../harness/cases.ts';
import { newKey, newRegistration } from '../../../harness/registration.ts';
import { startService } from '../../support/service.ts';

const CASES = '/api/v1/cases';

const fieldsOf = ({ headers }: ApiResponse) => ({
  policy: headers.get('ratelimit-policy'),
  left: headers.get('ratelimit'),
  retryAfter: headers.get('retry-after'),
});

/** The body of a 429 names the limit and the end of its window, as the headers do. */
function assertWindow(t: Test, { body, headers }: ApiResponse): void {
  const details = body.error.data ?? body.error;
  t.equal(details.retry_after, 600);
  t.match(headers.get('ratelimit-policy'), `;q=${details.limit};`);
  const [, seconds] = /;r=0;t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? [];
  const difference = Date.now() + Number(seconds) * 1000 - Date.parse(details.resets_at);
  t.ok(Math.abs(difference) < 10_000, `t and resets_at agree: ${difference} ms`);
}

t.test('tells with each write what is left of the write budget', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '2' });
  const agent = await newAgent(service);
  const policy = '"writes";q=2;w=86400';
  const none = { policy: null, left: null, retryAfter: null };
  const key = { 'idempotency-key': randomUUID() };
  const body = newCase();
  const first = await agent.call('POST', CASES, body, key);
  const [, seconds] = /^"writes";r=1;t=(\d+)$/.exec(fieldsOf(first).left ?? '') ?? [];
  const me = await agent.call('GET', '/api/v1/me');
  const reset = Date.parse(me.body.write_budget.resets_at);
  const difference = Date.now() + Number(seconds) * 1000 - reset;
  t.ok(Math.abs(difference) < 10_000, `the window ends with resets_at: ${difference} ms`);
  t.same(fieldsOf(me), none, 'reads have no limit');
  t.match(fieldsOf(first), { policy, retryAfter: null });

  const replayed = await agent.call('POST', CASES, body, key);
  t.match(fieldsOf(replayed), { policy, left: /^"writes";r=1;t=\d+$/ });
  t.match(fieldsOf(await agent.call('POST', CASES, newCase())), { left: /^"writes";r=0;t=\d+$/ });
  const refused = await agent.call('POST', CASES, newCase());
  t.equal(refused.status, 429);
  t.match(fieldsOf(refused), { policy, left: /^"writes";r=0;t=\d+$/, retryAfter: '600' });
  assertWindow(t, refused);
  t.match(fieldsOf(await agent.call('POST', CASES, body, key)), { left: /^"writes";r=0;t=\d+$/ });

  const { credential_id } = agent.credential;
  const revoked = await agent.call('POST', '/api/v1/me/credentials/revoke', { credential_id });
  t.equal(revoked.status, 200);
  t.same(fieldsOf(revoked), none, 'a revocation has no limit');
});

t.test('tells what is left of the attempts of an address, also after a failed one', async (t) => {
  const service = await startService(t, { LIMIT_KEY_ATTEMPTS: '3' });
  const { id, ...registration } = newRegistration();
  const login = (sign_in_key: string) =>
    service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const policy = '"keys";q=3;w=600';
  const registered = await service.call('POST', '/api/membership/register', {
    body: { id, ...registration },
  });
  t.match(fieldsOf(registered), { policy, left: /^"keys";r=2;t=[1-9]\d{0,2}$/, retryAfter: null });
  const failed = await login(newKey());
  t.equal(failed.status, 401);
  t.match(fieldsOf(failed), { policy, left: /^"keys";r=1;t=\d+$/, retryAfter: null });
  const signedIn = await login(registration.sign_in_key);
  t.match(signedIn.headers.get('set-cookie'), /^__Host-ServiceSession=/);
  t.match(fieldsOf(signedIn), { policy, left: /^"keys";r=0;t=\d+$/ });
  const refused = await login(registration.sign_in_key);
  t.equal(refused.status, 429);
  t.match(fieldsOf(refused), { policy, left: /^"keys";r=0;t=\d+$/, retryAfter: '600' });
  assertWindow(t, refused);
});

t.test('names the limit of new members if it refuses a registration', async (t) => {
  const service = await startService(t, { LIMIT_REGISTRATIONS_PER_DAY: '1' });
  const register = () =>
    service.call('POST', '/api/membership/register', { body: newRegistration() });
  t.equal((await register()).status, 200);
  const refused = await register();
  t.equal(refused.status, 429);
  const left = /^"registration";r=0;t=\d+$/;
  t.match(fieldsOf(refused), { policy: '"registration";q=1;w=86400', left, retryAfter: '600' });
  assertWindow(t, refused);
});

t.test('names both limits of notes, and the one that refuses a note', async (t) => {
  const service = await startService(t, {
    LIMIT_NOTES_PER_TEN_MINUTES: '9',
    LIMIT_NOTES_PER_DAY: '1',
  });
  const submit = (body: object) => service.call('POST', '/api/guestbook', { body });
  const note = () => ({ id: randomUUID(), name: 'Ada', message: 'Hello' });
  const policy = '"notes-10m";q=9;w=600, "notes-day";q=1;w=86400';
  const body = note();
  const accepted = await submit(body);
  t.equal(accepted.status, 202);
  t.match(fieldsOf(accepted), {
    policy,
    left: /^"notes-10m";r=8;t=\d+, "notes-day";r=0;t=\d+$/,
    retryAfter: null,
  });
  const refused = await submit(note());
  t.equal(refused.status, 429);
  t.match(fieldsOf(refused), { policy, left: /^"notes-day";r=0;t=\d+$/, retryAfter: '600' });
  assertWindow(t, refused);
  const repeated = await submit(body);
  t.equal(repeated.status, 200);
  t.same(fieldsOf(repeated), { policy, left: null, retryAfter: null });
});

t.test('tells what is left over MCP and A2A as well', async (t) => {
  const service = await startService(t, { LIMIT_MCP_REQUESTS: '2', LIMIT_WRITES_PER_DAY: '1' });
  const agent = await newAgent(service);
  const mcp = (method: string) =>
    service.call('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method } });
  const policy = '"mcp-10m";q=2;w=600';
  t.match(fieldsOf(await mcp('tools/list')), { policy, left: /^"mcp-10m";r=1;t=\d+$/ });
  t.match(fieldsOf(await mcp('nothing')), { policy, left: /^"mcp-10m";r=0;t=\d+$/ });
  const refused = await mcp('tools/list');
  t.equal(refused.status, 429);
  t.match(fieldsOf(refused), { policy, left: /^"mcp-10m";r=0;t=\d+$/, retryAfter: '600' });
  assertWindow(t, refused);

  const headers = { authorization: agent.authorization, ...VERSION };
  const a2a = (operation: string, input: object) =>
    service.call('POST', '/a2a', {
      body: asking(operation, input, randomUUID()),
      headers,
    });
  const created = await a2a('case.create', newCase());
  t.match(fieldsOf(created), { policy: '"writes";q=1;w=86400', left: /^"writes";r=0;t=\d+$/ });
  const spent = await a2a('case.create', newCase());
  t.equal(spent.status, 429);
  t.match(fieldsOf(spent), {
    policy: '"writes";q=1;w=86400',
    left: /^"writes";r=0;t=\d+$/,
    retryAfter: '600',
  });
});

t.test('limits the registrations and the guest notes of all addresses together', async (t) => {
  const service = await startService(t, {
    TRUSTED_PROXIES: '1',
    LIMIT_REGISTRATIONS_PER_HOUR: '2',
    LIMIT_GUEST_NOTES_PER_HOUR: '2',
  });
  const notes = () => ({ id: randomUUID(), message: 'Hello', name: 'Ada' });
  for (const [path, body] of [
    ['/api/membership/register', newRegistration],
    ['/api/guestbook', notes],
  ] as const) {
    const from = (network: number) =>
      service.call('POST', path, {
        body: body(),
        headers: { 'x-forwarded-for': `2001:db8:${network}::1` },
      });
    // Two in an hour, so at most four of five if an hour ends meanwhile.
    const answers = [];
    for (const network of [1, 2, 3, 4, 5]) answers.push(await from(network));
    t.ok(answers[0] && answers[0].status < 300, path);
    const refused = answers.find(({ status }) => status === 429);
    t.equal(refused?.body.status, 'rate_limited', path);
  }
});
