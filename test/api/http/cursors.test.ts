import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { type Agent, bootstrap, newAgent, newCredential } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { consent, createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import {
  addModerator,
  decide,
  type Moderator,
  submit,
  submitAs,
} from '../../../harness/moderation.ts';
import { brief } from '../../../harness/packets.ts';
import type { Route } from '../../../platform/http/route.ts';
import { keyRing } from '../../../platform/keys/key-ring.ts';
import { formatKeysetCursor, parseKeysetCursor } from '../../../platform/keyset-cursor.ts';
import { readCursor, writeCursor } from '../../../services/updates/cursor.ts';
import { screenNote } from '../../../workers/screening/screen-note.ts';
import { sealNow } from '../../support/sealed.ts';
import { fewerTries, same, tries } from '../../support/sequences.ts';
import { type Service, startService } from '../../support/service.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const OLD = { id: 1, secret: Buffer.alloc(32, 1) };
const keys = keyRing([{ id: 2, secret: Buffer.alloc(32, 2) }, OLD]);

/** A small change to a text: a character removed, doubled or replaced, or a few bytes inserted. */
const tampering = fc.record({
  at: fc.nat(1000),
  drop: fc.nat(2),
  put: fc.oneof(
    fc.constantFrom(...ALPHABET, '', '=', '+', '/', '.', ' ', 'é'),
    fc.string({ maxLength: 4 }),
  ),
});
type Tampering = typeof tampering extends fc.Arbitrary<infer T> ? T : never;

function tamperWith(cursor: string, { at, drop, put }: Tampering): string {
  const place = at % (cursor.length + 1);
  return cursor.slice(0, place) + put + cursor.slice(place + drop);
}

t.test('reads a feed cursor back only for its member', async (t) => {
  const place = fc.record({
    member: fc.uuid(),
    other: fc.uuid(),
    position: fc.record({
      sequence: fc.nat({ max: 2 ** 40 - 1 }),
      epoch: fc.nat({ max: 2 ** 48 - 1 }),
    }),
    old: fc.boolean(),
    tampering,
  });
  fc.assert(
    fc.property(place, ({ member, other, position, old, tampering }) => {
      const cursor = writeCursor(old ? keyRing([OLD]) : keys, member, position);
      same(readCursor(keys, member, cursor), position);
      if (other !== member) same(readCursor(keys, other, cursor), undefined);
      const changed = tamperWith(cursor, tampering);
      if (changed !== cursor) same(readCursor(keys, member, changed), undefined);
      if (!old) same(writeCursor(keys, member, position), cursor);
    }),
    tries(1500),
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) =>
      same(readCursor(keys, OLD.secret.toString('hex'), text), undefined),
    ),
    tries(500),
  );
  t.pass();
});

t.test('accepts only the canonical text of a keyset cursor', async (t) => {
  const at = fc
    .date({
      min: new Date('2000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    .chain((date) =>
      fc
        .nat(999)
        .map((micros) => date.toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)),
    );
  const timestampLike = fc.stringMatching(
    /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-6]\d:[0-6]\d\.\d{6}Z [0-9a-f-]{36}$/,
  );
  fc.assert(
    fc.property(at, fc.uuid(), tampering, timestampLike, (at, id, tampering, text) => {
      const cursor = formatKeysetCursor('cases', { at, id });
      same(parseKeysetCursor('cases', cursor), { at, id });
      same(parseKeysetCursor('sessions', cursor), undefined);
      for (const other of [
        tamperWith(cursor, tampering),
        Buffer.from(text).toString('base64url'),
      ]) {
        const read = parseKeysetCursor('cases', other);
        if (!read) continue;
        same(formatKeysetCursor('cases', read), other);
        const time = new Date(`${read.at.slice(0, 23)}Z`).toISOString();
        same(time.slice(0, 23), read.at.slice(0, 23));
      }
    }),
    tries(1500),
  );
  t.pass();
});

interface List {
  path: string;
  name: 'cursor' | 'before';
  headers: Record<string, string>;
}

/** A path of a route: with an experience, or with an id of nothing. */
const pathOf = ({ path }: Route): string =>
  path.replace(':experience', 'observatory').replace(':id', randomUUID());

/** The path that the `Link` of a response names as its next page; '' without one. */
const linkedPath = ({ headers }: { headers: Headers }): string =>
  /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? '';

/**
 * Every list of the route table, with the headers that it requires; without pages, which read these
 * lists, unless `includes` has them.
 */
function listRoutes(
  service: Service,
  agent: Agent,
  moderator: Moderator,
  cookie: string,
  includes = (route: Route) => route.tag !== 'pages',
): List[] {
  const headersFor = ({ access }: Route): Record<string, string> =>
    access === 'public' || access === 'session?'
      ? {}
      : access === 'session'
        ? { cookie }
        : typeof access === 'object' && 'roles' in access
          ? { authorization: `Bearer ${moderator.token}` }
          : { authorization: agent.authorization };
  return [...service.operations.values()]
    .filter(({ route }) => includes(route))
    .flatMap(({ route }) =>
      (['cursor', 'before'] as const)
        .filter((name) => route.query && name in route.query.shape)
        .map((name) => ({ path: pathOf(route), name, headers: headersFor(route) })),
    );
}

/** Creates two of every kind of record, and enough notes for a second page. */
async function createRecords(service: Service, agent: Agent, moderator: Moderator): Promise<void> {
  const other = await newAgent(service);
  await bootstrap(service, agent, newCredential());
  for (const each of [agent, other]) {
    const profile = { display_name: 'A', summary: 'B', links: [], capabilities: [], ...consent };
    await each.call('POST', '/api/v1/me/profile', profile);
    await each.call('POST', '/api/v1/artifacts', brief());
    await createOpenCase(createCaseCommands(each));
  }
  await createOpenCase(createCaseCommands(agent));
  for (let n = 0; n < 32; n++) await decide(moderator, (await submit(service)).id, 'approve');
  for (let n = 0; n < 2; n++)
    await screenNote(service.core, { note_id: (await submit(service)).id });
}

const SETTINGS = { SEAL_KEY: '5a'.repeat(32) };

/** Gives the transparency page a second week, as if the present decisions were of two past weeks. */
const passWeeks = (service: Service) =>
  service.tamper(`INSERT INTO moderation_weeks (week, subject, outcome, policy, age, count)
    SELECT date_trunc('week', now())::date - 7 * week, 'note', 'approved', '', 60, 1
    FROM generate_series(1, 2) week`);

/** Gives a member two sessions and two notes; returns the cookie of the second session. */
async function signInTwice(service: Service, agent: Agent): Promise<string> {
  const { id, handle, sign_in_key } = agent;
  const signIn = () => service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  await signIn();
  const cookie = readCookie(await signIn());
  for (let n = 0; n < 2; n++) await submitAs(service, { handle, cookie });
  return cookie;
}

/** A body without the ages of its items, which grow from one second to the next. */
const withoutAges = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (name, value) => (name === 'age_seconds' ? undefined : value));

t.test('answers any cursor text with a page or the same refusal on every list', async (t) => {
  const service = await startService(t, SETTINGS);
  const [agent, moderator] = [await newAgent(service), await addModerator(service, 'Ann', 'lead')];
  await createRecords(service, agent, moderator);
  await passWeeks(service);
  const cookie = await signInTwice(service, agent);
  await sealNow(service.core);
  const lists = listRoutes(service, agent, moderator, cookie);
  t.ok(lists.length >= 8, `${lists.length} lists`);
  const refusals = new Map<string, string>();

  for (const { path, name, headers } of lists) {
    const words = path === '/api/v1/search' ? 'q=a&' : '';
    const paged = name === 'cursor' ? `${path}?${words}limit=1&` : `${path}?`;
    const read = async (given: string) => {
      const answer = await service.call('GET', `${paged}${name}=${encodeURIComponent(given)}`, {
        headers,
      });
      if (answer.status >= 400) delete answer.body.error?.request_id;
      return answer;
    };
    const first = await service.call('GET', paged.slice(0, -1), { headers });
    const next = linkedPath(first);
    const validCursor = new URL(next, 'http://service').searchParams.get(name) ?? '';
    t.ok(validCursor, `${path} links to its second page`);
    if (name === 'cursor')
      t.match(first.body, { next_cursor: validCursor, has_more: true }, `${path} has more`);
    const second = await read(validCursor);
    const linked = await service.call('GET', next, { headers });
    t.same(withoutAges(linked.body), withoutAges(second.body), `${path} follows it`);
    t.equal(second.status, 200, `${path} accepts its next cursor`);
    t.not(second.text, first.text, `${path} returns another page`);
    let last = second;
    for (let link = linkedPath(last); link; link = linkedPath(last))
      last = await service.call('GET', link, { headers });
    t.equal(last.status, 200, `${path} ends without a link`);
    if (name === 'cursor') t.equal(last.body.has_more, false, `${path} says that it ends`);
    const sealed = path === '/api/v1/updates';
    const refused = JSON.stringify((await read('x')).body);
    refusals.set(path, refused);

    await fc.assert(
      fc.asyncProperty(
        tampering,
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        async (tampering, random) => {
          for (const given of [tamperWith(validCursor, tampering), random]) {
            if (given === validCursor || given === '' || !given.isWellFormed()) continue;
            const answer = await read(given);
            const body = JSON.stringify(answer.body);
            // A changed epoch may be one that a restore took back: the audit names where to go on.
            if (answer.body.error?.code === 'cursor_reset') same(path, '/api/moderation/audit');
            else if (answer.status === 400) same(body, refused);
            else if (answer.status !== 200 || sealed)
              throw new Error(`${path} ${given}: ${answer.status} ${body}`);
          }
        },
      ),
      fewerTries(20),
    );
  }
  for (const [path, refused] of refusals)
    t.match(JSON.parse(refused), { error: { code: 'invalid_cursor' } }, path);
});

t.test('refuses the cursor of one list on every other list', async (t) => {
  const service = await startService(t, SETTINGS);
  const [agent, moderator] = [await newAgent(service), await addModerator(service, 'Ann', 'lead')];
  await createRecords(service, agent, moderator);
  await passWeeks(service);
  const cookie = await signInTwice(service, agent);
  await sealNow(service.core);
  const lists = listRoutes(service, agent, moderator, cookie);
  const read = ({ path, name, headers }: List, cursor?: string) => {
    const search = new URLSearchParams({
      ...(path === '/api/v1/search' && { q: 'a' }),
      ...(name === 'cursor' && { limit: '1' }),
      ...(cursor && { [name]: cursor }),
    });
    return service.call('GET', `${path}?${search}`, { headers });
  };
  for (const list of lists) {
    const next = new URL(linkedPath(await read(list)), 'http://service');
    const cursor = next.searchParams.get(list.name) ?? '';
    t.equal((await read(list, cursor)).status, 200, list.path);
    for (const other of lists) {
      if (other.path === list.path) continue;
      const { status, body } = await read(other, cursor);
      t.match(
        [status, body.error?.code],
        [400, 'invalid_cursor'],
        `of ${list.path} on ${other.path}`,
      );
    }
    if (list.path !== '/api/guestbook') continue;
    for (const query of ['experience=observatory', `experience=service&parent_id=${randomUUID()}`])
      t.equal(
        (await service.call('GET', `${list.path}?${query}&before=${cursor}`)).body.status,
        'invalid_cursor',
        query,
      );
    t.equal((await service.call('GET', `/?before=${cursor}`)).status, 200, 'on its page');
  }
});

t.test('refuses a wrong cursor on every list and page as invalid_cursor', async (t) => {
  const service = await startService(t);
  const [agent, moderator] = [await newAgent(service), await addModerator(service, 'Ann', 'lead')];
  await bootstrap(service, agent, newCredential());
  const cookie = await signInTwice(service, agent);
  const lists = listRoutes(service, agent, moderator, cookie, () => true);
  t.ok(lists.length >= 16, `${lists.length} lists and pages`);
  const foreign = Buffer.from('queue 1 2').toString('base64url');
  for (const { path, name, headers } of lists)
    for (const cursor of ['', 'x', 'not a cursor', foreign, 'x'.repeat(1500)]) {
      const search = new URLSearchParams({
        ...(path.endsWith('/search') && { q: 'a' }),
        [name]: cursor,
      });
      const answer = await service.call('GET', `${path}?${search}`, { headers });
      t.match(
        [answer.status, answer.body.error?.code],
        [400, 'invalid_cursor'],
        `${path} ${name}=${cursor.slice(0, 20)}`,
      );
    }
});
