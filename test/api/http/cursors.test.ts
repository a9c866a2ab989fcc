import fc from 'fast-check';
import t from 'tap';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import { consent, createOpenCase, listCases } from '../../../harness/cases.ts';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { brief } from '../../../harness/packets.ts';
import { indexOperations } from '../../../platform/http/invoke.ts';
import type { Route } from '../../../platform/http/route.ts';
import { keyRing } from '../../../platform/keys/key-ring.ts';
import { formatKeysetCursor, parseKeysetCursor } from '../../../platform/keyset-cursor.ts';
import { readCursor, writeCursor } from '../../../services/updates/cursor.ts';
import { fewerTries, same, tries } from '../../support/sequences.ts';
import { type Service, startService } from '../../support/service.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const OLD = { id: 1, secret: Buffer.alloc(32, 1) };
const keys = keyRing([{ id: 2, secret: Buffer.alloc(32, 2) }, OLD]);

/** Another text, near the one that was given: a character lost, doubled, changed, or its bits. */
const tampering = fc.record({
  at: fc.nat(1000),
  drop: fc.nat(2),
  put: fc.oneof(
    fc.constantFrom(...ALPHABET, '', '=', '+', '/', '.', ' ', 'é'),
    fc.string({ maxLength: 4 }),
  ),
});
type Tampering = typeof tampering extends fc.Arbitrary<infer T> ? T : never;

function tampered(cursor: string, { at, drop, put }: Tampering): string {
  const place = at % (cursor.length + 1);
  return cursor.slice(0, place) + put + cursor.slice(place + drop);
}

t.test('a cursor of the feed comes back as its place, for its member alone', async (t) => {
  const place = fc.record({
    member: fc.uuid(),
    other: fc.uuid(),
    sequence: fc.maxSafeNat(),
    old: fc.boolean(),
    tampering,
  });
  fc.assert(
    fc.property(place, ({ member, other, sequence, old, tampering }) => {
      const cursor = writeCursor(old ? keyRing([OLD]) : keys, member, sequence);
      same(readCursor(keys, member, cursor), sequence);
      if (other !== member) same(readCursor(keys, other, cursor), undefined);
      const changed = tampered(cursor, tampering);
      if (changed !== cursor) same(readCursor(keys, member, changed), undefined);
      if (!old) same(writeCursor(keys, member, sequence), cursor);
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

t.test('a place has one spelling: what is read is what would be written', async (t) => {
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
  const wild = fc.stringMatching(
    /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-6]\d:[0-6]\d\.\d{6}Z [0-9a-f-]{36}$/,
  );
  fc.assert(
    fc.property(at, fc.uuid(), tampering, wild, (at, id, tampering, text) => {
      const cursor = formatKeysetCursor({ at, id });
      same(parseKeysetCursor(cursor), { at, id });
      for (const other of [tampered(cursor, tampering), Buffer.from(text).toString('base64url')]) {
        const read = parseKeysetCursor(other);
        if (!read) continue;
        same(formatKeysetCursor(read), other);
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

/** Every list of the route table, with what it takes to read it. */
function listsOf(service: Service, agent: Agent, moderator: Moderator): List[] {
  const headersFor = ({ access }: Route): Record<string, string> =>
    access === 'public' || access === 'session?'
      ? {}
      : typeof access === 'object' && 'roles' in access
        ? { authorization: `Bearer ${moderator.token}` }
        : { authorization: agent.authorization };
  return [...indexOperations(service.features).values()].flatMap(({ route }) =>
    (['cursor', 'before'] as const)
      .filter((name) => route.query && name in route.query.shape)
      .map((name) => ({ path: route.path, name, headers: headersFor(route) })),
  );
}

/** Two of everything that a list shows, and for the guestbook, whose pages are long, more. */
async function fill(service: Service, agent: Agent, moderator: Moderator): Promise<void> {
  const other = await newAgent(service);
  for (const each of [agent, other]) {
    const profile = { display_name: 'A', summary: 'B', links: [], capabilities: [], ...consent };
    await each.call('POST', '/api/v1/me/profile', profile);
    await each.call('POST', '/api/v1/artifacts', brief());
    await createOpenCase(listCases(each));
  }
  for (let n = 0; n < 32; n++) await decide(moderator, (await submit(service)).id, 'approve');
  for (let n = 0; n < 2; n++) await submit(service);
}

t.test('whatever is sent for a cursor, a list answers its page or its one refusal', async (t) => {
  const service = await startService(t);
  const [agent, moderator] = [await newAgent(service), await addModerator(service, 'Ann', 'lead')];
  await fill(service, agent, moderator);
  const lists = listsOf(service, agent, moderator);
  t.ok(lists.length >= 8, `${lists.length} lists`);
  const refusals = new Map<string, string>();

  for (const { path, name, headers } of lists) {
    const paged = name === 'cursor' ? `${path}?limit=1&` : `${path}?`;
    const read = async (given: string) => {
      const answer = await service.call('GET', `${paged}${name}=${encodeURIComponent(given)}`, {
        headers,
      });
      if (answer.status >= 400) delete answer.body.error?.request_id;
      return answer;
    };
    const first = await service.call('GET', paged.slice(0, -1), { headers });
    const link = /before=([^&>]+)/.exec(first.headers.get('link') ?? '')?.[1];
    const good = name === 'cursor' ? first.body.next_cursor : decodeURIComponent(link ?? '');
    t.ok(good, `${path} has a second page`);
    const second = await read(good);
    t.equal(second.status, 200, `${path} goes on`);
    t.not(second.text, first.text, `${path} goes on to another page`);
    const sealed = path === '/api/v1/updates';
    const refused = JSON.stringify((await read('x')).body);
    refusals.set(path, refused);

    await fc.assert(
      fc.asyncProperty(
        tampering,
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        async (tampering, random) => {
          for (const given of [tampered(good, tampering), random]) {
            if (given === good || given === '' || !given.isWellFormed()) continue;
            const answer = await read(given);
            const body = JSON.stringify(answer.body);
            if (answer.status === 400) same(body, refused);
            else if (answer.status !== 200 || sealed)
              throw new Error(`${path} ${given}: ${answer.status} ${body}`);
          }
        },
      ),
      fewerTries(20),
    );
  }
  for (const [path, refused] of refusals)
    t.match(
      JSON.parse(refused),
      { error: { code: path === '/api/guestbook' ? 'invalid_request' : 'invalid_cursor' } },
      path,
    );
});
