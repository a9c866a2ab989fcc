import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { newKey } from '../../../harness/registration.ts';
import { UpdatesPage } from '../../../services/updates/contract.ts';
import { type Service, startService } from '../../support/service.ts';

const UPDATES = '/api/v1/updates';
const from = (cursor: string, more = '') =>
  `${UPDATES}?cursor=${encodeURIComponent(cursor)}${more}`;

function recover(service: Service, { id, recovery_key }: { id: string; recovery_key: string }) {
  const new_sign_in_key = newKey();
  const body = {
    id,
    recovery_key,
    new_sign_in_key,
    new_recovery_key: newKey(),
    operation_id: randomUUID(),
  };
  return service
    .call('POST', '/api/membership/recover', { body })
    .then(({ status }) => ({ status, id, sign_in_key: new_sign_in_key }));
}

t.test("lists a member's own events in order and in the documented shape", async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await newAgent(service);
  const answer = await agent.call('GET', UPDATES);
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('cache-control'), 'no-store');
  t.same(UpdatesPage.strict().parse(answer.body), answer.body);
  t.match(answer.body, {
    status: 'ok',
    has_more: false,
    next_cursor: /^[A-Za-z0-9_-]{56}$/,
    events: [
      {
        id: /^[0-9a-f]{8}-[0-9a-f]{4}-7/,
        sequence: 1,
        type: 'member.registered',
        occurred_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
        subject: { type: 'member', id: agent.id },
        actor: { type: 'member', id: agent.id },
        data: {},
      },
      {
        sequence: 2,
        type: 'credential.created',
        subject: { type: 'credential', id: agent.credential.credential_id },
        data: { expires_at: agent.credential.expires_at },
      },
    ],
  });
  t.equal(answer.body.events.length, 2, "another member's events are not listed");
  const { rows } = await service.database.pool.query(
    'SELECT event_id FROM events WHERE owner_id = $1 ORDER BY position',
    [agent.id],
  );
  t.same(
    answer.body.events.map(({ id }: { id: string }) => id),
    rows.map(({ event_id }) => event_id),
    'the ids are those of the log',
  );
});

t.test('continues each page where the previous one ended', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await bootstrap(service, agent, newCredential());
  const first = await agent.call('GET', `${UPDATES}?limit=2`);
  t.equal(first.body.events.length, 2);
  t.equal(first.body.has_more, true);
  const second = await agent.call('GET', from(first.body.next_cursor, '&limit=2'));
  t.same(
    second.body.events.map(({ sequence }: { sequence: number }) => sequence),
    [3],
  );
  t.equal(second.body.has_more, false);
  const none = await agent.call('GET', from(second.body.next_cursor));
  t.same(none.body, {
    status: 'ok',
    events: [],
    next_cursor: second.body.next_cursor,
    has_more: false,
  });
  await bootstrap(service, agent, newCredential());
  const later = await agent.call('GET', from(none.body.next_cursor));
  t.equal(later.body.events[0].sequence, 4);
  t.same((await agent.call('GET', from(first.body.next_cursor))).body.events[0].sequence, 3);
});

t.test('gives each of many readers at one time the page that it asks for', async (t) => {
  const service = await startService(t);
  const agents = await Promise.all(Array.from({ length: 6 }, () => newAgent(service)));
  const reads: { read(): ReturnType<Service['call']>; alone: string }[] = [];
  for (const agent of agents) {
    const { events, next_cursor: end } = (await agent.call('GET', UPDATES)).body;
    t.equal(events.length, 2);
    const { next_cursor: cursor } = (await agent.call('GET', `${UPDATES}?limit=1`)).body;
    const paths = [UPDATES, `${UPDATES}?limit=1`, from(cursor), from(end), `${UPDATES}?start=now`];
    for (const path of paths) {
      const read = () => agent.call('GET', path);
      reads.push({ read, alone: (await read()).text });
    }
  }
  t.equal(new Set(reads.map(({ alone }) => alone)).size, 4 * agents.length);
  const together = await Promise.all([...reads, ...reads].map(({ read }) => read()));
  t.same(
    together.map(({ text }) => text),
    [...reads, ...reads].map(({ alone }) => alone),
  );
});

t.test('refuses parameters out of range and callers without the scope', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service, ['case:note']);
  const reader = await newAgent(service);
  const scope = await agent.call('GET', UPDATES);
  t.equal(scope.status, 403);
  t.match(scope.body.error, { code: 'scope_required', scope: 'updates:read' });
  t.equal((await service.call('GET', UPDATES)).body.error.code, 'credential_required');
  for (const wrong of ['limit=0', 'limit=101', 'limit=-1', 'limit=1.0', 'limit=', 'wait=26'])
    t.match((await reader.call('GET', `${UPDATES}?${wrong}`)).body, { status: 'invalid_request' });
  for (const wrong of ['wait=-1', 'wait=1.5', 'wait=', 'wait=1&wait=1', 'limit=1&limit=2'])
    t.match((await reader.call('GET', `${UPDATES}?${wrong}`)).body, { status: 'invalid_request' });
  t.match((await reader.call('GET', `${UPDATES}?from=1`)).body, { status: 'query_not_allowed' });
  t.equal((await reader.call('GET', `${UPDATES}?limit=100&wait=0`)).status, 200);
  t.equal((await reader.call('POST', UPDATES, {})).headers.get('allow'), 'GET, HEAD');
});

t.test('answers every invalid or foreign cursor with the same error', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const other = await newAgent(service);
  const { next_cursor: cursor } = (await agent.call('GET', UPDATES)).body;
  const bodies = [];
  for (const wrong of [
    '',
    'x',
    '-1',
    '2',
    `${cursor}=`,
    ` ${cursor}`,
    'A'.repeat(52),
    'A'.repeat(56),
    'A'.repeat(4000),
  ])
    bodies.push(await agent.call('GET', from(wrong)));
  bodies.push(await other.call('GET', from(cursor)));
  for (const { status, body } of bodies) {
    t.equal(status, 400);
    const { request_id, ...rest } = body.error;
    t.ok(request_id);
    t.same(
      { ...body, error: rest },
      {
        status: 'invalid_cursor',
        error: {
          code: 'invalid_cursor',
          message: 'The cursor is not one that this list gave you.',
        },
      },
    );
  }
  t.equal((await agent.call('GET', from(cursor))).status, 200);
});

t.test(
  'answers a cursor ahead of the log as unavailable, because the log lacks events',
  async (t) => {
    const service = await startService(t);
    const agent = await newAgent(service);
    const { next_cursor: cursor } = (await agent.call('GET', UPDATES)).body;
    await service.tamper('UPDATE feed_heads SET sequence = 1 WHERE member_id = $1', [agent.id]);
    for (const path of [from(cursor), from(cursor, '&wait=1')])
      t.match(await agent.call('GET', path), {
        status: 503,
        body: { status: 'storage_unavailable' },
      });
  },
);

t.test('refuses every changed cursor', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const { next_cursor: cursor } = (await agent.call('GET', `${UPDATES}?limit=1`)).body;
  const refused = async (text: string) => {
    const { status, body } = await agent.call('GET', from(text));
    return status === 400 && body.status === 'invalid_cursor';
  };
  await fc.assert(
    fc.asyncProperty(fc.nat(42 * 8 - 1), async (bit) => {
      const bytes = Buffer.from(cursor, 'base64url');
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return refused(bytes.toString('base64url'));
    }),
    { numRuns: 400 },
  );
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => refused(text)),
    { numRuns: 200 },
  );
  const anyBytes = fc.uint8Array({ minLength: 0, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyBytes, fc.uint8Array({ minLength: 42, maxLength: 42 })), (bytes) =>
      refused(Buffer.from(bytes).toString('base64url')),
    ),
    { numRuns: 200 },
  );
  t.equal((await agent.call('GET', from(cursor))).status, 200);
});

t.test('accepts a cursor after rotation, expiry, recovery and a new server key', async (t) => {
  const [oldKey, newKeyHex] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
  const service = await startService(t, { SERVER_KEYS: `1:${oldKey}` });
  const agent = await newAgent(service);
  const { next_cursor: cursor } = (await agent.call('GET', `${UPDATES}?limit=1`)).body;
  const sequences = async (authorization: string, on: Service = service) => {
    const answer = await on.call('GET', from(cursor), { headers: { authorization } });
    return answer.body.events?.map(({ sequence }: { sequence: number }) => sequence);
  };

  const rotated = newCredential();
  await agent.call('POST', '/api/v1/me/credentials/rotate', rotated);
  t.same(await sequences(toAuthorization(rotated)), [2, 3, 4]);

  await service.tamper(
    `UPDATE credentials SET expires_at = now() - interval '1 second' WHERE member_id = $1`,
    [agent.id],
  );
  t.same(await sequences(toAuthorization(rotated)), undefined);
  const again = newCredential();
  await bootstrap(service, agent, again);
  t.same(await sequences(toAuthorization(again)), [2, 3, 4, 5]);

  const recovered = await recover(service, agent);
  t.equal(recovered.status, 200);
  const last = newCredential();
  await bootstrap(service, recovered, last);
  const seen = await sequences(toAuthorization(last));
  t.same(
    seen,
    Array.from({ length: seen.length }, (_, index) => index + 2),
  );

  const both = `2:${newKeyHex},1:${oldKey}`;
  const next = await startService(t, { SERVER_KEYS: both, DATABASE_URL: service.database.url });
  t.same(await sequences(toAuthorization(last), next), seen);
  const withNewKey = await next.call('GET', UPDATES, {
    headers: { authorization: toAuthorization(last) },
  });
  const newCursorPath = from(withNewKey.body.next_cursor);
  const headers = { authorization: toAuthorization(last) };
  t.equal((await next.call('GET', newCursorPath, { headers })).status, 200);
  t.equal((await service.call('GET', newCursorPath, { headers })).body.status, 'invalid_cursor');
});
