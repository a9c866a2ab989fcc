import { connect } from 'node:net';
import t from 'tap';
import {
  type Agent,
  bootstrap,
  newAgent,
  newCredential,
  toAuthorization,
} from '../../../harness/agent.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { createWaitingPlaces, type PlaceHolder } from '../../../platform/limits/waiting-places.ts';
import { countHeldPolls } from '../../support/held-polls.ts';
import { startProcess } from '../../support/processes.ts';
import { type Service, startService } from '../../support/service.ts';

const UPDATES = '/api/v1/updates';

/** Long-polls after the last event of the member; `leave` disconnects and waits for its place. */
async function poll(
  service: Service,
  held: ReturnType<typeof countHeldPolls>,
  agent: Agent,
  authorization = agent.authorization,
) {
  const { next_cursor: cursor } = (await agent.call('GET', UPDATES)).body;
  const leaving = new AbortController();
  const answer = fetch(`${service.baseUrl}${UPDATES}?cursor=${cursor}&wait=25`, {
    headers: { authorization },
    signal: leaving.signal,
  });
  answer.catch(() => undefined);
  const before = held.count();
  const status = await Promise.race([
    answer.then((response) => response.status),
    held.until(before + 1).then(() => 'waits'),
  ]);
  const leave = async () => {
    const left = held.until(held.count() - 1);
    leaving.abort();
    await left;
  };
  return { answer, status, leave };
}

t.test('counts waiting places per holder and in total, and returns each once', (t) => {
  const places = createWaitingPlaces({ perHolder: 2, total: 3 });
  const take = (id: string, kind: PlaceHolder['kind'] = 'credential') => {
    const place = places.take({ kind, id });
    return typeof place === 'string' ? place : place.leave;
  };
  const first = take('a');
  take('a');
  t.equal(take('a'), 'holder_full');
  take('b');
  t.equal(take('b'), 'full');
  t.equal(take('c'), 'full');
  if (typeof first === 'string') throw new Error(first);
  first();
  first();
  t.type(take('c'), 'function');
  t.equal(take('c'), 'full', 'a place is returned only once');
  t.type(take('c', 'moderator'), 'function', 'moderators have places beside those of credentials');
  t.end();
});

t.test('limits the waiting requests of a credential', async (t) => {
  const service = await startService(t, { LIMIT_WAITING_PER_CREDENTIAL: '2' });
  const held = countHeldPolls(service);
  const agent = await newAgent(service);
  const second = newCredential();
  await bootstrap(service, agent, second);
  const polls = [await poll(service, held, agent), await poll(service, held, agent)];
  t.same(
    polls.map(({ status }) => status),
    ['waits', 'waits'],
  );
  const refused = await poll(service, held, agent);
  t.equal(refused.status, 429);
  const answer = await refused.answer;
  t.equal(answer.headers.get('retry-after'), '600');
  const refusal = await answer.json();
  t.match(refusal, { status: 'rate_limited', error: { message: /wait already/, limit: 2 } });
  t.notMatch(refusal, { error: { resets_at: String } }, 'a place is free when a request ends');
  t.equal((await agent.call('GET', UPDATES)).status, 200, 'a request without wait is answered');
  const other = await poll(service, held, agent, toAuthorization(second));
  t.equal(other.status, 'waits', 'another credential of the member may wait');
  await polls[0]?.leave();
  const again = await poll(service, held, agent);
  t.equal(again.status, 'waits', 'a place is free after a request ends');
  for (const { leave } of [polls[1], other, again].filter((one) => one !== undefined))
    await leave();
});

t.test('answers without waiting when the process holds its maximum', async (t) => {
  const service = await startService(t, { LIMIT_WAITING: '1' });
  const held = countHeldPolls(service);
  const [ada, bob] = [await newAgent(service), await newAgent(service)];
  const first = await poll(service, held, ada);
  t.equal(first.status, 'waits');
  const next = await poll(service, held, bob);
  t.equal(next.status, 200);
  t.match(await (await next.answer).json(), { status: 'ok', events: [], has_more: false });
  await first.leave();
  const again = await poll(service, held, bob);
  t.equal(again.status, 'waits');
  await again.leave();
});

t.test('limits the streams of a moderator and does not count HEAD', async (t) => {
  const service = await startService(t, { LIMIT_WAITING_PER_CREDENTIAL: '1' });
  const headers = { authorization: `Bearer ${(await addModerator(service, 'Ann')).token}` };
  const follow = async (method = 'GET') => {
    const leaving = new AbortController();
    const url = `${service.baseUrl}/api/moderation/stream`;
    const { status, body } = await fetch(url, { method, headers, signal: leaving.signal });
    return { status, body, leave: () => leaving.abort() };
  };
  for (const _ of [1, 2]) t.equal((await follow('HEAD')).status, 200);
  const stream = await follow();
  t.equal(stream.status, 200);
  t.equal((await follow()).status, 429);
  stream.leave();
  // The service notices a moment later that the caller has left.
  let again = await follow();
  while (again.status === 429) again = await follow();
  t.equal(again.status, 200, 'a place is free after a stream ends');
  again.leave();
});

t.test('keeps places for moderators while members hold all of theirs', async (t) => {
  const service = await startService(t, { LIMIT_WAITING: '1' });
  const held = countHeldPolls(service);
  const ada = await newAgent(service);
  const waiting = await poll(service, held, ada);
  t.equal(waiting.status, 'waits');
  const url = `${service.baseUrl}/api/moderation/stream`;
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const follow = async (name: string) => {
    const headers = { authorization: `Bearer ${(await addModerator(service, name)).token}` };
    return (await fetch(url, { headers, signal: leaving.signal })).status;
  };
  t.equal(await follow('Ann'), 200);
  t.equal(await follow('Bob'), 429, 'the moderators have as many places as the members');
  await waiting.leave();
});

t.test('limits the connections of a web process', async (t) => {
  const { base, untilServes } = await startProcess(t, 'web', ['ignore', 'ignore', 'inherit'], {
    MAX_CONNECTIONS: '3',
  });
  await untilServes();
  const { hostname, port } = new URL(base);
  // `untilServes` may hold one more.
  const sockets = Array.from({ length: 6 }, () => connect(Number(port), hostname));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  // A connection that the process keeps is answered; it closes the others.
  const answers = await Promise.all(
    sockets.map((socket) => {
      socket.on('error', () => undefined);
      socket.write(`GET /livez HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
      return new Promise<string>((resolve) => {
        socket.once('data', (data) => resolve(String(data))).once('close', () => resolve(''));
      });
    }),
  );
  const kept = answers.filter((answer) => answer.startsWith('HTTP/1.1 200')).length;
  t.ok(kept === 2 || kept === 3, `${kept} of 6 connections are kept`);
});
