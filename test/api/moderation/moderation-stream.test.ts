import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { publishArtifact, report } from '../../../harness/records.ts';
import { createHttpServer } from '../../../platform/http/server.ts';
import { createWaitingPlaces } from '../../../platform/limits/waiting-places.ts';
import { createApp } from '../../../services/app.ts';
import { createCore } from '../../../services/compose.ts';
import { membershipReview } from '../../../services/disabling/review.ts';
import { revokeModerator, rotateModerator } from '../../../services/moderation/staff/moderators.ts';
import { streamHandlers } from '../../../services/moderation/stream/handlers.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { matchAll } from '../../support/match-all.ts';
import { beginTestEpoch } from '../../support/restored-log.ts';
import { type Service, startService } from '../../support/service.ts';

type Test = Parameters<typeof startService>[0];

const openStream = (t: Test, service: Pick<Service, 'baseUrl'>, headers: Record<string, string>) =>
  openEventStream(t, `${service.baseUrl}/api/moderation/stream`, headers);

const bearer = ({ token }: Moderator) => ({ authorization: `Bearer ${token}` });

const isSubject = (id: string) => (data: { subject: { id: string } }) => data.subject.id === id;

/** Starts a second web process on the same database. */
async function startSecondProcess(t: Test, service: Service) {
  const core = await createCore(service.core.config, 'service second');
  const { app, stop } = await createApp(core, pino({ level: 'silent' }));
  const server = createHttpServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await core.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, stop };
}

t.test('streams notes, claims, decisions and counts from every process', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const early = await submit(service);
  const claim = await bob.post('claims', { note_ids: [early.id] });
  const second = await startSecondProcess(t, service);
  const consoles = [
    await openStream(t, service, bearer(ann)),
    await openStream(t, second, bearer(ann)),
  ] as const;
  const [{ response }] = consoles;
  t.equal(response.status, 200);
  t.match(response.headers.get('content-type'), /^text\/event-stream/);
  t.equal(response.headers.get('cache-control'), 'no-store');

  for (const console of consoles) {
    const first = await console.until('claim', ({ complete }) => complete);
    matchAll(t, first.data.claims, [
      { lease_id: claim.body.claims[0].lease_id, note_id: early.id, moderator_id: bob.id },
    ]);
    await console.until('counts', ({ todo, mine }) => todo === 1 && mine === 0);
  }
  const note = await submit(service, { message: 'Never in a stream', name: 'Nobody' });
  const claimed = await ann.post('claims', { note_ids: [note.id] });
  const [{ lease_id }] = claimed.body.claims;
  for (const console of consoles) {
    t.match((await console.until('queue', isSubject(note.id))).data, {
      type: 'NoteSubmitted',
      subject: { type: 'note', id: note.id },
      version: 1,
      actor: { type: 'guest' },
    });
    await console.until('claim', ({ claims }) =>
      claims.some((one: { lease_id: string }) => one.lease_id === lease_id),
    );
    await console.until('counts', ({ todo, mine }) => todo === 2 && mine === 1);
  }
  const decided = await decide(ann, note.id, 'approve');
  for (const console of consoles) {
    const approved = await console.until('queue', ({ type }) => type === 'NoteApproved');
    t.match(approved.data, {
      event_id: decided.body.event_id,
      version: 2,
      actor: { type: 'moderator', id: ann.id },
    });
    await console.until('claim', ({ released }) => released.includes(note.id));
    await console.until('counts', ({ todo, mine }) => todo === 1 && mine === 0);
    t.notMatch(console.text(), /Never in a stream|Nobody|Ann|Bob/);
  }
  await service.database.pool.query(`UPDATE note_leases SET expires_at = clock_timestamp()`);
  await consoles[0].until('claim', ({ released }) => released.includes(early.id));
  t.pass('streams the end of an expired lease');
});

t.test('resumes a stream after its last event, or asks for a resync', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const first = await submit(service);
  const before = await openStream(t, service, bearer(ann));
  await before.until('counts');
  await submit(service);
  const { id } = await before.until('queue');
  before.close();
  const missed = [await submit(service), await submit(service)];

  const after = await openStream(t, service, { ...bearer(ann), 'last-event-id': id });
  for (const note of missed) await after.until('queue', isSubject(note.id));
  t.notOk(after.seen.some(({ event, data }) => event === 'queue' && isSubject(first.id)(data)));
  const all = await openStream(t, service, { ...bearer(ann), 'last-event-id': '1.0' });
  await all.until('queue', isSubject(first.id));
  t.equal(all.seen.filter(({ event }) => event === 'queue').length, 4);

  for (const nonsense of ['nonsense', '999999', '-1', '1.999999', '2.1']) {
    const lost = await openStream(t, service, { ...bearer(ann), 'last-event-id': nonsense });
    t.match((await lost.until('resync')).data, { reason: 'gap' });
    await lost.until('counts');
    lost.close();
  }
  await service.tamper(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
     SELECT gen_random_uuid(), 'session-' || n, 1, gen_random_uuid(), 'SessionStarted', '{}',
       '{"type":"service"}', now() FROM generate_series(1, 5001) n`,
  );
  // The first process may not have looked yet; another one starts at the present.
  const far = await openStream(t, await startSecondProcess(t, service), {
    ...bearer(ann),
    'last-event-id': id,
  });
  await far.until('resync', ({ reason }) => reason === 'gap');
});

t.test('ends a stream when an epoch begins, and reads anew after it', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service);
  const before = await openStream(t, service, bearer(ann));
  const { id } = await before.until('counts');
  await beginTestEpoch(service);
  await before.over;
  const after = await openStream(t, service, { ...bearer(ann), 'last-event-id': id });
  t.match((await after.until('resync')).data, { reason: 'gap' });
});

t.test('streams an event that commits late, also to the next stream', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const client = await service.database.pool.connect();
  const late = randomUUID();
  const steady = await openStream(t, service, bearer(ann));
  const brief = await openStream(t, service, bearer(ann));
  await brief.until('counts');
  await service.tamper('SELECT');
  await client.query('BEGIN');
  const { rows } = await client.query(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
     VALUES ($1::uuid, 'note-' || $1::uuid, 1, gen_random_uuid(), 'NoteSubmitted', '{}', '{"type":"guest"}', now())
     RETURNING position`,
    [late],
  );
  const note = await submit(service);
  const event = await brief.until('queue', isSubject(note.id));
  t.ok(
    Number(event.id.split('.')[1]) < Number(rows[0].position),
    'its id precedes the open transaction',
  );
  brief.close();
  await client.query('COMMIT');
  client.release();
  const after = await openStream(t, service, { ...bearer(ann), 'last-event-id': event.id });
  await after.until('queue', isSubject(late));
  await steady.until('queue', isSubject(late));
  t.pass('both streams sent the late event');
});

t.test('streams what happens after its headers, beside a long transaction', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const note = await submit(service);
  const client = await service.database.pool.connect();
  t.teardown(() => client.release(true));
  await client.query('BEGIN; SELECT pg_current_xact_id()');
  const stream = await openStream(t, service, bearer(ann));
  await decide(bob, note.id, 'approve');
  await stream.until('queue', isSubject(note.id));
  t.same((await stream.until('claim', ({ complete }) => complete)).data.claims, []);
});

t.test("includes escalated notes in a lead's count of open notes", async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const [one] = [await submit(service), await submit(service)];
  const escalate = { action: 'escalate', expected_version: 1, message: 'Hard' };
  await ann.post(`notes/${one.id}/decisions`, escalate);
  for (const [who, todo] of [
    [ann, 1],
    [lea, 2],
  ] as const) {
    const { data } = await (await openStream(t, service, bearer(who))).until('counts');
    t.match(data, { todo, escalated: 1 });
    t.match(data, (await who.get('queue')).body.counts);
  }
});

t.test('counts the colleagues who decide and have used a session lately', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const bob = await addModerator(service, 'Bob');
  const audrey = await addModerator(service, 'Audrey', 'auditor');
  const console = await openStream(t, service, bearer(ann));
  for (const { token } of [ann, bob, audrey])
    await service.call('POST', '/api/moderation/session', { body: { token } });
  await console.until('counts', ({ colleagues }) => colleagues === 1);
  const auditing = await openStream(t, service, bearer(audrey));
  await auditing.until('counts', ({ colleagues }) => colleagues === 2);
  await service.tamper(
    `UPDATE moderator_sessions SET seen_at = seen_at - interval '16 minutes'
    WHERE moderator_id = $1`,
    [bob.id],
  );
  await console.until('counts', ({ colleagues }) => colleagues === 0);
});

t.test('counts a deferred note again when it is due, without an event', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const defer = { action: 'defer', expected_version: 1, until };
  await ann.post(`notes/${note.id}/decisions`, defer);
  const console = await openStream(t, service, bearer(ann));
  t.match((await console.until('counts')).data, { todo: 0 });
  await service.tamper('UPDATE notes SET deferred_until = clock_timestamp()');
  await console.until('counts', ({ todo }) => todo === 1);
  t.pass('counted without an event');
});

t.test('asks for a resync when a policy changes', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const console = await openStream(t, service, bearer(lead));
  await console.until('counts');
  await service.call('PUT', '/api/moderation/policies', {
    body: { code: 'rude', title: 'Rude', text: 'Be kind.', active: true },
    headers: bearer(lead),
  });
  t.match((await console.until('resync')).data, { reason: 'policies' });
});

t.test('ends only the streams of an ended session, token or moderator', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const signIn = async () =>
    readCookie(
      await service.call('POST', '/api/moderation/session', { body: { token: ann.token } }),
    );
  const cookies = [await signIn(), await signIn()] as const;
  const mine = [
    await openStream(t, service, { cookie: cookies[0] }),
    await openStream(t, service, { cookie: cookies[1] }),
    await openStream(t, service, bearer(ann)),
  ] as const;
  const other = await openStream(t, service, bearer(bob));
  for (const console of [...mine, other]) await console.until('counts');

  await service.call('DELETE', '/api/moderation/session', { cookie: cookies[0] });
  await mine[0].over;
  await service.database.pool.query(
    `UPDATE moderator_sessions SET seen_at = seen_at - interval '8 hours'`,
  );
  await mine[1].over;
  await submit(service);
  await mine[2].until('queue');
  await rotateModerator(service.core, 'Ann');
  await mine[2].over;
  t.equal((await openStream(t, service, bearer(ann))).response.status, 401);

  await submit(service);
  await other.until('counts', ({ todo }) => todo === 2);
  await revokeModerator(service.core, 'Bob');
  await other.over;
  t.pass('all streams have ended');
});

t.test("shares one subscription among a process's streams until the last ends", async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { pool, wakeUps } = service.core;
  let subscribed = 0;
  const countingWakeUps: typeof wakeUps = {
    ...wakeUps,
    subscribe: (topic, listener) => {
      subscribed++;
      const stop = wakeUps.subscribe(topic, listener);
      return () => {
        subscribed--;
        stop();
      };
    },
  };
  const ending = new AbortController();
  const places = createWaitingPlaces({ perHolder: 10, total: 10 });
  const handlers = streamHandlers({
    pool,
    wakeUps: countingWakeUps,
    places,
    membershipReview,
    logWatch: service.core.logWatch,
    ending: ending.signal,
    pingMs: 20,
  });
  const me = { kind: 'moderator', moderatorId: ann.id, name: '', role: 'moderator' } as const;
  const streams = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const outcome = await handlers['moderation.stream']({
        principal: { ...me, sessionId: null, tokenHash: null },
        request: { gone: () => new AbortController().signal },
      } as never);
      if (!('stream' in outcome)) throw new Error('the handler returned no stream');
      return outcome.stream[Symbol.asyncIterator]();
    }),
  );
  const next = async (index: number) => (await streams[index]?.next())?.value as string | undefined;
  const firsts = await Promise.all(streams.map((_, index) => next(index)));
  t.ok(firsts.every((first) => first?.startsWith('retry: ')));
  t.equal(subscribed, 1);
  for (let text = ''; text !== ': ping\n\n'; ) text = (await next(0)) ?? '';
  t.pass('an idle stream sends pings');
  await streams[1]?.return?.();
  t.equal(subscribed, 1);
  ending.abort();
  for (const index of [0, 2, 3, 4]) while ((await next(index)) !== undefined);
  t.equal(subscribed, 0);
});

t.test('sends pings beside frequent events', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { pool, wakeUps } = service.core;
  const ending = new AbortController();
  const places = createWaitingPlaces({ perHolder: 10, total: 10 });
  const handlers = streamHandlers({
    pool,
    wakeUps,
    places,
    membershipReview,
    logWatch: service.core.logWatch,
    ending: ending.signal,
    pingMs: 400,
  });
  const outcome = await handlers['moderation.stream']({
    principal: {
      kind: 'moderator',
      moderatorId: ann.id,
      name: '',
      role: 'moderator',
      sessionId: null,
    },
    request: { gone: () => new AbortController().signal },
  } as never);
  if (!('stream' in outcome)) throw new Error('the handler returned no stream');
  let received = '';
  const read = (async () => {
    for await (const text of outcome.stream) received += text;
  })();
  const pingBeforeEvent = /: ping\n\n(?:.|\n)*event: queue/;
  for (let round = 0; round < 200 && !pingBeforeEvent.test(received); round++) {
    await submit(service);
    await sleep(60);
  }
  t.match(received, pingBeforeEvent);
  ending.abort();
  await read;
});

t.test('refuses anonymous callers and ends streams when the process drains', async (t) => {
  const service = await startService(t);
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const second = await startSecondProcess(t, service);
  t.equal((await openStream(t, service, {})).response.status, 401);
  const head = await service.call('HEAD', '/api/moderation/stream', { headers: bearer(auditor) });
  t.equal(head.status, 200);
  const console = await openStream(t, second, bearer(auditor));
  await console.until('counts');
  second.stop();
  await console.over;
  t.pass('the stream has ended');
});

t.test('streams reports on records and the decisions on them', async (t) => {
  const service = await startService(t);
  const [author, reporter] = [await newAgent(service), await newAgent(service)];
  const ann = await addModerator(service, 'Ann');
  const artifact = await publishArtifact(author);
  const console = await openStream(t, service, bearer(ann));
  await console.until('counts', ({ reported }) => reported === 0);
  await report(reporter, artifact, { details: 'Never in a stream' });
  const reported = await console.until('queue', isSubject(artifact.id));
  const subject = { type: 'artifact', id: artifact.id };
  t.match(reported.data, { type: 'RecordReported', subject, version: null });
  t.notMatch(JSON.stringify(reported.data), 'Never');
  await console.until('counts', ({ reported }) => reported === 1);
  const body = { action: 'remove', policy: 'spam', expected_version: 2 };
  await ann.post(`subjects/artifact/${artifact.id}/decisions`, body);
  const removed = await console.until('queue', ({ type }) => type === 'ArtifactRemoved');
  t.match(removed.data, { subject, version: null, actor: { id: ann.id } });
  await console.until('counts', ({ reported }) => reported === 0);
});
