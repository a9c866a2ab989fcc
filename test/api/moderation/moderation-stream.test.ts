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
import { createApp, createCore } from '../../../services/compose.ts';
import { revokeModerator, rotateModerator } from '../../../services/moderation/staff/moderators.ts';
import { streamHandlers } from '../../../services/moderation/stream/handlers.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { matchAll } from '../../support/match-all.ts';
import { type Service, startService } from '../../support/service.ts';

type Test = Parameters<typeof startService>[0];

const open = (t: Test, service: Pick<Service, 'baseUrl'>, headers: Record<string, string>) =>
  openEventStream(t, `${service.baseUrl}/api/moderation/stream`, headers);

const bearer = ({ token }: Moderator) => ({ authorization: `Bearer ${token}` });

const of = (id: string) => (data: { subject: { id: string } }) => data.subject.id === id;

/** A second web process, as far as storage can tell, on the same database. */
async function secondProcess(t: Test, service: Service) {
  const core = await createCore(service.core.config, 'service second');
  const { app, stop } = createApp(core, pino({ level: 'silent' }));
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

t.test('a console learns of notes, claims, decisions and counts, from every process', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const early = await submit(service);
  const held = await bob.post('claims', { note_ids: [early.id] });
  const second = await secondProcess(t, service);
  const consoles = [
    await open(t, service, bearer(ann)),
    await open(t, second, bearer(ann)),
  ] as const;
  const [{ response }] = consoles;
  t.equal(response.status, 200);
  t.match(response.headers.get('content-type'), /^text\/event-stream/);
  t.equal(response.headers.get('cache-control'), 'no-store');

  for (const console of consoles) {
    const first = await console.until('claim', ({ complete }) => complete);
    matchAll(t, first.data.claims, [
      { lease_id: held.body.claims[0].lease_id, note_id: early.id, moderator_id: bob.id },
    ]);
    await console.until('counts', ({ todo, mine }) => todo === 1 && mine === 0);
  }
  const note = await submit(service, { message: 'Never in a stream', name: 'Nobody' });
  const claimed = await ann.post('claims', { note_ids: [note.id] });
  const [{ lease_id }] = claimed.body.claims;
  for (const console of consoles) {
    t.match((await console.until('queue', of(note.id))).data, {
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
    const told = await console.until('queue', ({ type }) => type === 'NoteApproved');
    t.match(told.data, {
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
  t.pass('a lease that is over is told too');
});

t.test('a stream goes on where it broke off, or says that it cannot', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const first = await submit(service);
  const before = await open(t, service, bearer(ann));
  await before.until('counts');
  await submit(service);
  const { id } = await before.until('queue');
  before.close();
  const missed = [await submit(service), await submit(service)];

  const after = await open(t, service, { ...bearer(ann), 'last-event-id': id });
  for (const note of missed) await after.until('queue', of(note.id));
  t.notOk(after.seen.some(({ event, data }) => event === 'queue' && of(first.id)(data)));
  const all = await open(t, service, { ...bearer(ann), 'last-event-id': '0' });
  await all.until('queue', of(first.id));
  t.equal(all.seen.filter(({ event }) => event === 'queue').length, 4);

  for (const nonsense of ['nonsense', '999999', '-1']) {
    const lost = await open(t, service, { ...bearer(ann), 'last-event-id': nonsense });
    t.match((await lost.until('resync')).data, { reason: 'gap' });
    await lost.until('counts');
    lost.close();
  }
  await service.tamper(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
     SELECT gen_random_uuid(), 'session-' || n, 1, gen_random_uuid(), 'SessionStarted', '{}',
       '{"type":"service"}', now() FROM generate_series(1, 5001) n`,
  );
  // The same process may not have looked yet, another one begins at the present.
  const far = await open(t, await secondProcess(t, service), {
    ...bearer(ann),
    'last-event-id': id,
  });
  await far.until('resync', ({ reason }) => reason === 'gap');
});

t.test('what is committed late is told late, and is not lost between two streams', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const client = await service.database.pool.connect();
  const late = randomUUID();
  const steady = await open(t, service, bearer(ann));
  const brief = await open(t, service, bearer(ann));
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
  const told = await brief.until('queue', of(note.id));
  t.ok(Number(told.id) < Number(rows[0].position), 'its id is of what is settled');
  brief.close();
  await client.query('COMMIT');
  client.release();
  const after = await open(t, service, { ...bearer(ann), 'last-event-id': told.id });
  await after.until('queue', of(late));
  await steady.until('queue', of(late));
  t.pass('told by the next stream, and by one that went on');
});

t.test("a lead's count of what is to do holds what is escalated", async (t) => {
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
    const { data } = await (await open(t, service, bearer(who))).until('counts');
    t.match(data, { todo, escalated: 1 });
    t.match(data, (await who.get('queue')).body.counts);
  }
});

t.test(
  'what was deferred is counted again when it is due, though nothing tells of it',
  async (t) => {
    const service = await startService(t);
    const ann = await addModerator(service, 'Ann');
    const note = await submit(service);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const defer = { action: 'defer', expected_version: 1, until };
    await ann.post(`notes/${note.id}/decisions`, defer);
    const console = await open(t, service, bearer(ann));
    t.match((await console.until('counts')).data, { todo: 0 });
    await service.tamper('UPDATE notes SET deferred_until = clock_timestamp()');
    await console.until('counts', ({ todo }) => todo === 1);
    t.pass('while nobody did anything');
  },
);

t.test('a change of policies asks for a new look', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const console = await open(t, service, bearer(lead));
  await console.until('counts');
  await service.call('PUT', '/api/moderation/policies', {
    body: { code: 'rude', title: 'Rude', text: 'Be kind.', active: true },
    headers: bearer(lead),
  });
  t.match((await console.until('resync')).data, { reason: 'policies' });
});

t.test(
  'a stream ends with the session, the token or the moderator, and no other does',
  async (t) => {
    const service = await startService(t);
    const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
    const signIn = async () =>
      readCookie(
        await service.call('POST', '/api/moderation/session', { body: { token: ann.token } }),
      );
    const cookies = [await signIn(), await signIn()] as const;
    const mine = [
      await open(t, service, { cookie: cookies[0] }),
      await open(t, service, { cookie: cookies[1] }),
      await open(t, service, bearer(ann)),
    ] as const;
    const other = await open(t, service, bearer(bob));
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
    t.equal((await open(t, service, bearer(ann))).response.status, 401);

    await submit(service);
    await other.until('counts', ({ todo }) => todo === 2);
    await revokeModerator(service.core, 'Bob');
    await other.over;
    t.pass('all have ended');
  },
);

t.test('consoles of one process share one look; the last one that leaves ends it', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { pool, wakeUps } = service.core;
  let subscribed = 0;
  const counted: typeof wakeUps = {
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
    wakeUps: counted,
    places,
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
      if (!('stream' in outcome)) throw new Error('no stream');
      return outcome.stream[Symbol.asyncIterator]();
    }),
  );
  const next = async (index: number) => (await streams[index]?.next())?.value as string | undefined;
  const firsts = await Promise.all(streams.map((_, index) => next(index)));
  t.ok(firsts.every((first) => first?.startsWith('retry: ')));
  t.equal(subscribed, 1);
  for (let text = ''; text !== ': ping\n\n'; ) text = (await next(0)) ?? '';
  t.pass('nothing to tell is told as well');
  await streams[1]?.return?.();
  t.equal(subscribed, 1);
  ending.abort();
  for (const index of [0, 2, 3, 4]) while ((await next(index)) !== undefined);
  t.equal(subscribed, 0);
});

t.test('a ping comes beside what is told, however often that is', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { pool, wakeUps } = service.core;
  const ending = new AbortController();
  const places = createWaitingPlaces({ perHolder: 10, total: 10 });
  const handlers = streamHandlers({ pool, wakeUps, places, ending: ending.signal, pingMs: 400 });
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
  if (!('stream' in outcome)) throw new Error('no stream');
  let told = '';
  const read = (async () => {
    for await (const text of outcome.stream) told += text;
  })();
  for (let round = 0; round < 20; round++) {
    await submit(service);
    await sleep(60);
  }
  t.match(told, /: ping\n\n(?:.|\n)*event: queue/);
  ending.abort();
  await read;
});

t.test('who may follow, and that a draining process lets go', async (t) => {
  const service = await startService(t);
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const second = await secondProcess(t, service);
  t.equal((await open(t, service, {})).response.status, 401);
  const head = await service.call('HEAD', '/api/moderation/stream', { headers: bearer(auditor) });
  t.equal(head.status, 200);
  const console = await open(t, second, bearer(auditor));
  await console.until('counts');
  second.stop();
  await console.over;
  t.pass('the stream has ended');
});

t.test('a console learns of reports on records and of what is decided on them', async (t) => {
  const service = await startService(t);
  const [author, reporter] = [await newAgent(service), await newAgent(service)];
  const ann = await addModerator(service, 'Ann');
  const artifact = await publishArtifact(author);
  const console = await open(t, service, bearer(ann));
  await console.until('counts', ({ reported }) => reported === 0);
  await report(reporter, artifact, { details: 'Never in a stream' });
  const told = await console.until('queue', of(artifact.id));
  const subject = { type: 'artifact', id: artifact.id };
  t.match(told.data, { type: 'RecordReported', subject, version: null });
  t.notMatch(JSON.stringify(told.data), 'Never');
  await console.until('counts', ({ reported }) => reported === 1);
  const body = { action: 'remove', policy: 'spam', expected_version: 2 };
  await ann.post(`subjects/artifact/${artifact.id}/decisions`, body);
  const removed = await console.until('queue', ({ type }) => type === 'ArtifactRemoved');
  t.match(removed.data, { subject, version: null, actor: { id: ann.id } });
  await console.until('counts', ({ reported }) => reported === 0);
});
