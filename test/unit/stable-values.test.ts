import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { v7 } from 'uuid';
import { UUID_V4 } from '../../platform/http/schemas.ts';
import { toCompactJson } from '../support/compact-json.ts';
import { createStableValues } from '../support/stable-values.ts';

interface Exchange {
  id: string;
  body: unknown;
}

/** What a run records: two members and a case, with values that no other run has. */
function record(inserted: (moment: number) => Exchange[] = () => []): string[] {
  const now = Date.now() + Math.floor(Math.random() * 10 * 86_400_000);
  const stable = createStableValues(now, () => now);
  const [ada, bob, key] = [randomUUID(), randomUUID(), randomBytes(32).toString('hex')];
  const created_at = new Date(now).toISOString();
  const exchanges = [
    { id: 'register', body: { id: ada, token: `mod_${ada}.${key}`, created_at } },
    { id: 'register', body: { id: bob, expires_at: Math.floor(now / 1000) + 3600 } },
    ...inserted(now),
    { id: 'case', body: { id: v7(), member_id: bob, next_cursor: randomBytes(9).toString('hex') } },
    { id: 'text', body: JSON.stringify({ member_id: ada, created_at, age_seconds: 3 }) },
    { id: 'card', body: { version: 'service-api-2026-09-12', until: created_at.slice(0, 10) } },
  ];
  return exchanges.map(({ id, body }) => JSON.stringify(stable(body, id)));
}

t.test('gives two runs the same values', async (t) => {
  t.same(record(), record());
});

t.test('keeps the values of other exchanges when one is inserted', async (t) => {
  const [first, second, inserted, ...others] = record((moment) => [
    { id: 'session', body: { id: randomUUID(), ended_at: new Date(moment).toISOString() } },
  ]);
  t.same([first, second, ...others], record());
  t.match(inserted, /^\{"id":"/);
});

t.test('keeps the form of each value, and refers to the same thing alike', async (t) => {
  const [ada, bob, work, text] = record().map((line) => JSON.parse(line));
  t.match(ada.id, UUID_V4);
  t.equal(ada.token.slice(4, 40), ada.id);
  t.match(ada.token, /\.[0-9a-f]{64}$/);
  t.match(work.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8/);
  t.equal(work.member_id, bob.id);
  t.equal(bob.expires_at - Date.parse(ada.created_at) / 1000, 3600);
  t.equal(JSON.parse(text).member_id, ada.id);
});

t.test('keeps the day in the name of a contract', async (t) => {
  const card = JSON.parse(record().at(-1) ?? '');
  t.same(card, { version: 'service-api-2026-09-12', until: '2026-09-12' });
});

t.test('writes compact JSON that says the same', async (t) => {
  const value = { list: [1, [], {}], long: { a: 'x'.repeat(60), b: ['y'.repeat(60)] }, none: null };
  t.same(JSON.parse(toCompactJson(value)), value);
  t.match(toCompactJson(value), /^\{\n {2}"list": \[1, \[\], \{\}\],\n {2}"long": \{\n/);
});
