import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type Agent, bootstrap, newAgent, newCredential } from '../../../harness/agent.ts';
import { type Api, readCookie } from '../../../harness/api.ts';
import { patient } from '../../../harness/patient.ts';
import { matchAll } from '../../support/match-all.ts';
import { startService } from '../../support/service.ts';

const UPDATES = '/api/v1/updates';
const WRITERS = 50;
const ROUNDS = 6;

interface Update {
  id: string;
  sequence: number;
  type: string;
  subject: { type: string; id: string };
}

/** One writer: creates sessions, notes and credentials of a member, which its feed lists. */
async function write(service: Api, agent: Agent, round: number): Promise<string[]> {
  if (round % 3 === 2) {
    const credential = newCredential(['updates:read']);
    const created = await bootstrap(service, agent, credential);
    const body = { credential_id: credential.credential_id };
    // At the limit of active credentials, nothing was created.
    if (created.status !== 201) return [];
    const revoked = await agent.call('POST', '/api/v1/me/credentials/revoke', body);
    return [created, revoked].flatMap((answer) => answer.body.receipt.event_ids);
  }
  const { id, sign_in_key, handle } = agent;
  const call = (path: string, body: object, cookie?: string) =>
    service.call('POST', path, { body, cookie });
  const login = await call('/api/membership/login', { id, sign_in_key });
  const cookie = readCookie(login);
  const note = { id: randomUUID(), message: 'Hello', attribution: 'member', member_handle: handle };
  const sent = await call('/api/guestbook', note, cookie);
  const out = await call('/api/membership/logout', {}, cookie);
  if (login.status !== 200 || sent.status > 202 || out.status !== 200)
    throw new Error(`${login.text} ${sent.text} ${out.text}`);
  return [];
}

/** Reads pages of three from the first event on, until `done` accepts the last page. */
async function readAll(agent: Agent, isComplete: (seen: readonly Update[]) => boolean) {
  const seen: Update[] = [];
  for (let cursor = ''; ; ) {
    const { status, text, body } = await agent.call('GET', `${UPDATES}?limit=3&wait=1${cursor}`);
    if (status !== 200) throw new Error(text);
    seen.push(...body.events);
    cursor = `&cursor=${body.next_cursor}`;
    if (!body.has_more && isComplete(seen)) return seen;
  }
}

t.test('delivers every event of fifty concurrent writers to readers of small pages', async (t) => {
  const service = await startService(t, {
    LIMIT_WRITES_PER_DAY: '100000',
    LIMIT_NOTES_PER_TEN_MINUTES: '100000',
    LIMIT_NOTES_PER_DAY: '100000',
    LIMIT_KEY_ATTEMPTS: '100000',
    LIMIT_BOOTSTRAP_ATTEMPTS: '100000',
  });
  const api = patient(service);
  const agents = await Promise.all(Array.from({ length: 3 }, () => newAgent(api)));
  let writing = true;
  const readers = agents.map((agent) => readAll(agent, () => !writing));
  const receipts = await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const ids: string[] = [];
      const agent = agents[writer % agents.length] as Agent;
      for (let round = 0; round < ROUNDS; round++)
        ids.push(...(await write(api, agent, writer + round)));
      return { agent, ids };
    }),
  );
  writing = false;
  const feeds = await Promise.all(readers);

  for (const [index, agent] of agents.entries()) {
    const feed = feeds[index] ?? [];
    const own = receipts.filter((receipt) => receipt.agent === agent).flatMap(({ ids }) => ids);
    t.ok(own.length > 10);
    const seen = new Set(feed.map(({ id }) => id));
    t.equal(seen.size, feed.length, 'no event is delivered twice');
    t.ok(
      own.every((id) => seen.has(id)),
      'every event of a receipt is delivered',
    );
    t.same(
      feed.map(({ sequence }) => sequence),
      feed.map((_, place) => place + 1),
      'sequences start at one without a gap',
    );
    const { rows } = await service.database.pool.query(
      `SELECT event_id FROM events WHERE owner_id = $1 OR data->>'member_id' = $1::text`,
      [agent.id],
    );
    t.same(
      [...seen].sort(),
      rows.map(({ event_id }) => event_id).sort(),
      'every event of the log is delivered',
    );
    for (const kind of ['session', 'credential', 'note']) {
      const ofSubject = Map.groupBy(feed, ({ subject }) => `${subject.type} ${subject.id}`);
      for (const [subject, events] of ofSubject)
        if (subject.startsWith(kind) && events.length > 1)
          matchAll(
            t,
            events.map(({ type }) => type),
            [/(created|started)$/, /(revoked|ended)$/],
          );
    }
  }
});
