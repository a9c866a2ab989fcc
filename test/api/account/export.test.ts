import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Agent, bootstrap, newAgent, newCredential } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, submit } from '../../../harness/moderation.ts';
import { brief } from '../../../harness/packets.ts';
import { fillFeed } from '../../support/feed.ts';
import { type Service, startService } from '../../support/service.ts';

const PATH = '/api/v1/me/export';
const consent = {
  links: [],
  capabilities: [],
  visibility: 'public',
  publish_consent: true,
  policy_version: 'service-public-v1',
};

t.test('exports all data of a member and nothing of another member', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const other = await newAgent(service);
  const { id, handle, sign_in_key } = agent;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const note = await submit(
    service,
    { name: '', message: 'Mine', attribution: 'member', member_handle: handle },
    readCookie(login),
  );
  const profile = { display_name: 'Me', summary: 'What I do', ...consent };
  t.equal((await agent.call('POST', '/api/v1/me/profile', profile)).status, 200);
  const packet = brief();
  const published = await agent.call('POST', '/api/v1/artifacts', packet);
  t.equal(published.status, 201, published.text);
  const more = newCredential(['updates:read']);
  await bootstrap(service, agent, more);
  const revoked = await agent.call('POST', '/api/v1/me/credentials/revoke', {
    credential_id: more.credential_id,
  });

  const answer = await agent.call('GET', PATH);
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  t.equal(answer.headers.get('cache-control'), 'no-store');
  const { body } = answer;
  t.strictSame(Object.keys(body), [
    'status',
    'exported_at',
    'feed_sequence',
    'member',
    'notes',
    'appeals',
    'sessions',
    'credentials',
    'passkeys',
    'profile',
    'artifacts',
    'cases',
    'submissions',
    'reviews',
    'case_notes',
    'reports',
    'disablings',
    'disabling_appeals',
    'receipts',
    'feed',
  ]);
  t.match(body, {
    status: 'ok',
    member: { id, handle, identity: 'chosen_service_handle', registered_at: /Z$/ },
    feed_sequence: 8,
    profile: { display_name: 'Me', summary: 'What I do', state: 'published' },
    artifacts: [{ id: published.body.artifact.id, kind: 'brief', packet, state: 'published' }],
    credentials: [
      { credential_id: more.credential_id, state: 'revoked', revoked_reason: 'revoked' },
      { credential_id: agent.credential.credential_id, state: 'active' },
    ],
    sessions: [{ ended_at: null, started_at: /Z$/, expires_at: login.body.expires_at }],
    notes: [{ id: note.id, message: 'Mine', state: 'pending', experience: 'service' }],
  });
  t.equal(body.notes.length + body.sessions.length + body.credentials.length, 4);
  t.strictSame(
    body.feed.map(({ sequence, type }: { sequence: number; type: string }) => [sequence, type]),
    [
      [1, 'member.registered'],
      [2, 'credential.created'],
      [3, 'session.started'],
      [4, 'note.submitted'],
      [5, 'profile.published'],
      [6, 'artifact.published'],
      [7, 'credential.created'],
      [8, 'credential.revoked'],
    ],
  );
  const receipts = body.receipts as { operation: string; reply: unknown }[];
  t.strictSame(receipts.map(({ operation }) => operation).sort(), [
    'artifact.publish',
    'credential.bootstrap',
    'credential.bootstrap',
    'credential.revoke',
    'guestbook.submit',
    'membership.register',
    'profile.publish',
  ]);
  t.strictSame(
    receipts.find(({ operation }) => operation === 'credential.revoke')?.reply,
    revoked.body,
  );
  for (const { operation, body_hash } of body.receipts)
    if (operation === 'guestbook.submit') t.equal(body_hash, undefined);
    else t.match(body_hash, /^[0-9a-f]{64}$/, operation);
  const { rows } = await service.database.pool.query<{ hash: string }>(
    `SELECT hash FROM verifiers
      UNION ALL SELECT part.value->>'hash' FROM receipts, jsonb_each(bound) part`,
  );
  t.ok(rows.length > 6);
  const secrets = [sign_in_key, agent.recovery_key, agent.credential.credential_secret];
  for (const secret of [...secrets, ...rows.map(({ hash }) => hash)])
    t.notOk(answer.text.includes(secret));
  t.notOk(answer.text.includes(other.id));

  const limitedAgent = await newAgent(service, ['account:delete']);
  t.equal((await limitedAgent.call('GET', PATH)).body.error.code, 'scope_required');
  t.equal((await agent.call('GET', `${PATH}?all=1`)).body.error.code, 'query_not_allowed');
});

t.test('leaves events after the start of an export out of its feed', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await fillFeed(service, agent, 2000, 2000);
  const response = await fetch(`${service.baseUrl}${PATH}`, {
    headers: { authorization: agent.authorization },
  });
  await fillFeed(service, agent, 100, 10);
  const body = (await response.json()) as { feed_sequence: number; feed: { sequence: number }[] };
  t.equal(body.feed_sequence, 2002);
  t.equal(body.feed.length, 2002);
  t.ok(body.feed.every(({ sequence }, index) => sequence === index + 1));
});

/** Sends a raw request whose response stays in the socket until it is read. */
async function requestExport(service: Service, agent: Agent) {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(
    `GET ${PATH} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${agent.authorization}\r\n` +
      'Connection: close\r\n\r\n',
  );
  const readToEnd = async () => {
    const pieces: Buffer[] = [];
    for await (const piece of socket) pieces.push(piece as Buffer);
    return Buffer.concat(pieces).toString();
  };
  return { socket, readToEnd };
}

/** Returns the number of batches read, once the export has begun and read nothing for a second. */
async function untilSettled({ core }: Service, count: () => number): Promise<number> {
  const { pool } = core;
  let last = -1;
  for (let same = 0; same < 10; await sleep(100)) {
    const reads = count() <= 2 || pool.idleCount < pool.totalCount;
    same = count() === last && !reads ? same + 1 : 0;
    last = count();
  }
  return last;
}

/** Counts the connections taken from the pool. */
function countAcquires(service: Service): () => number {
  let uses = 0;
  service.core.pool.on('acquire', () => {
    uses += 1;
  });
  return () => uses;
}

t.test('holds no connection for a slow reader and sends the rest once it reads on', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await fillFeed(service, agent, 20_000, 2000);
  const uses = countAcquires(service);
  const { readToEnd } = await requestExport(service, agent);
  const stalled = await untilSettled(service, uses);
  t.ok(
    stalled > 2 && stalled < 150,
    `${stalled} of more than 200 statements while the reader pauses`,
  );
  const { pool } = service.core;
  t.equal(pool.idleCount, pool.totalCount, 'every connection is free');
  const { rows } = await service.database.pool.query(
    `SELECT count(*)::int AS busy FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'service test' AND state <> 'idle'`,
  );
  t.equal(rows[0].busy, 0);
  const text = await readToEnd();
  t.ok(text.endsWith('\r\n0\r\n\r\n'));
  t.equal(text.match(/"pad":/g)?.length, 20_000);
});

t.test('ends an export when its reader disconnects', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await fillFeed(service, agent, 20_000, 2000);
  const uses = countAcquires(service);
  const { socket } = await requestExport(service, agent);
  const stalled = await untilSettled(service, uses);
  socket.destroy();
  // The line of a request is logged at its end.
  const isLogged = () =>
    service.logged.some((line) => line.includes('"msg":"request"') && line.includes(PATH));
  while (!isLogged()) await sleep(20);
  t.ok((await untilSettled(service, uses)) <= stalled + 4);
  t.equal(service.core.pool.idleCount, service.core.pool.totalCount);
});

for (const [what, interrupt] of [
  [
    'a revocation',
    (_service: Service, agent: Agent) =>
      agent.call('POST', '/api/v1/me/credentials/revoke', {
        credential_id: agent.credential.credential_id,
      }),
  ],
  [
    'the disabling of the membership',
    async (service: Service, agent: Agent) => {
      const lead = await addModerator(service, 'Lea', 'lead');
      const disabling = { policy: 'spam', message: null, until: null };
      const disabled = await lead.post(`members/${agent.id}/disable`, disabling);
      t.equal(disabled.status, 201, disabled.text);
    },
  ],
  [
    'a storage failure',
    (service: Service) => service.tamper('ALTER TABLE feed RENAME TO feed_away'),
  ],
] as const)
  t.test(`breaks the connection without a valid end when ${what} ends an export`, async (t) => {
    const service = await startService(t);
    const agent = await newAgent(service);
    await fillFeed(service, agent, 20_000, 2000);
    const uses = countAcquires(service);
    const { readToEnd } = await requestExport(service, agent);
    await untilSettled(service, uses);
    await interrupt(service, agent);
    const text = await readToEnd().catch(() => '');
    t.notOk(text.endsWith('0\r\n\r\n'), 'the last chunk is missing');
    t.ok(service.logged.some((line) => line.includes('answer cut short')));
  });

t.test('answers 503 when storage fails before the export begins', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await service.tamper(
    `ALTER TABLE feed_heads RENAME COLUMN sequence TO gone;
     CREATE FUNCTION never() RETURNS bigint LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'away' USING ERRCODE = 'admin_shutdown'; END $$;
     ALTER TABLE feed_heads RENAME TO heads_away;
     CREATE VIEW feed_heads AS SELECT member_id, never() AS sequence FROM heads_away`,
  );
  const answer = await agent.call('GET', PATH);
  t.equal(answer.status, 503);
  t.equal(answer.body.error.code, 'storage_unavailable');
});

t.test('answers HEAD with headers and without a body', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const answer = await agent.call('HEAD', PATH, undefined, { 'idempotency-key': randomUUID() });
  t.equal(answer.status, 200);
  t.equal(answer.text, '');
});
