import { randomBytes, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Config } from '../../platform/config.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { defineContract } from '../../platform/http/route.ts';
import { keyRing } from '../../platform/keys/key-ring.ts';
import { type Limit, rateLimits, type Taken } from '../../platform/limits/rate-limits.ts';
import { routeLimits } from '../../platform/limits/route-limits.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';
import { untilWindowLasts } from '../support/service.ts';

const ring = keyRing([{ id: 1, secret: randomBytes(32) }]);
const short = (limit: number): Limit => ({ kind: 'short', window: '10 minutes', limit });
const long = (limit: number): Limit => ({ kind: 'long', window: '1 day', limit });
const times = <Result>(count: number, work: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => work(index));
const countAllowed = (answers: readonly Taken[]) => answers.filter(({ counted }) => counted).length;

/** Creates the rate limits of several processes on one database. */
async function createLimits(t: Test, processes = 1) {
  const { url } = await testDatabase(t);
  const pools = times(processes, () => createPool(url, 'test', 4));
  t.teardown(() => Promise.all(pools.map((pool) => pool.end())));
  const [pool] = pools as [(typeof pools)[number]];
  await untilWindowLasts(pool);
  const counts = async () => {
    const { rows } = await pool.query('SELECT kind, count FROM rate_counters ORDER BY kind, count');
    return rows.map(({ kind, count }) => `${kind} ${count}`);
  };
  return { pool, counts, limits: pools.map((own) => rateLimits(own, ring)) };
}

t.test('counts exactly the allowed number of concurrent calls in all processes', async (t) => {
  const { limits, counts } = await createLimits(t, 3);
  const answers = await Promise.all(
    limits.flatMap(({ take }) => times(40, () => take('192.0.2.1', [short(50), long(100)]))),
  );
  t.equal(countAllowed(answers), 50);
  t.same(await counts(), ['long 50', 'short 50']);
});

t.test('counts an IPv6 /48 at ten times the limit, and the whole service', async (t) => {
  const { limits, counts } = await createLimits(t);
  const [{ take, giveBack }] = limits as [(typeof limits)[number]];
  const all: Limit = { kind: 'all', window: '1 hour', limit: 22, scope: 'service' };
  const inNetwork = (network: string) => (index: number) =>
    take(`2001:db8:${network}:${index.toString(16)}::/64`, [short(2), all]);
  const of = async (work: (index: number) => Promise<Taken>, count: number) => {
    const taken: Taken[] = [];
    for (let index = 0; index < count; index++) taken.push(await work(index));
    return countAllowed(taken);
  };
  t.equal(await of(inNetwork('1'), 25), 20, 'a /48 has ten times the limit of a /64');
  t.equal(await of(inNetwork('2'), 5), 2, 'the whole service has its own limit');
  t.equal((await counts()).includes('all 22'), true);
  t.equal((await take('192.0.2.1', [short(2), all])).counted, false);
  await giveBack('2001:db8:1:0::/64', [short(2), all]);
  t.equal((await take('192.0.2.1', [short(2), all])).counted, true, 'given back in every counter');
});

t.test('counts each address separately', async (t) => {
  const { limits, counts } = await createLimits(t);
  const takes = limits.flatMap(({ take }) =>
    times(60, (index) => take(`192.0.2.${index % 3}`, [short(index % 3 === 0 ? 10 : 20)])),
  );
  const answers = await Promise.all(takes);
  t.equal(countAllowed(answers), 50);
  t.same(await counts(), ['short 10', 'short 20', 'short 20']);
});

t.test('counts nothing under one limit that another refuses', async (t) => {
  const { limits, counts } = await createLimits(t);
  const take = limits[0]?.take as (typeof limits)[number]['take'];
  t.equal(
    countAllowed(await Promise.all(times(12, () => take('192.0.2.1', [short(20), long(5)])))),
    5,
  );
  t.same(await counts(), ['long 5', 'short 5']);
  t.notOk((await take('192.0.2.1', [short(0)])).counted, 'a limit of zero allows nothing');
});

t.test('never counts under the next limit what one limit refuses', async (t) => {
  const { pool, limits } = await createLimits(t);
  await pool.query(`CREATE TABLE seen (count int);
    CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO seen VALUES (NEW.count); RETURN NEW; END';
    CREATE TRIGGER see AFTER INSERT OR UPDATE ON rate_counters FOR EACH ROW
      WHEN (NEW.kind = 'long') EXECUTE FUNCTION see()`);
  const takes = limits.flatMap(({ take }) =>
    times(10, () => take('192.0.2.1', [short(5), long(100)])),
  );
  t.equal(countAllowed(await Promise.all(takes)), 5);
  const { rows } = await pool.query('SELECT max(count) AS most FROM seen');
  t.same(rows, [{ most: 5 }]);
});

t.test('tells what is left of each limit, and which one is used up', async (t) => {
  const { limits } = await createLimits(t);
  const [{ take }] = limits as [(typeof limits)[number]];
  const all = [short(3), long(2)];
  const headers = async () => (await take('192.0.2.1', all)).headers;
  const policy = '"short";q=3;w=600, "long";q=2;w=86400';
  t.match(await headers(), {
    'ratelimit-policy': policy,
    ratelimit: /^"short";r=2;t=[1-9]\d{0,2}, "long";r=1;t=[1-9]\d{0,4}$/,
  });
  t.match(await headers(), { ratelimit: /^"short";r=1;t=\d+, "long";r=0;t=\d+$/ });
  t.match(await headers(), { 'ratelimit-policy': policy, ratelimit: /^"long";r=0;t=\d+$/ });

  const together = await Promise.all(times(4, () => take('192.0.2.2', all)));
  t.equal(countAllowed(together), 2);
  const refused = together.filter(({ counted }) => !counted);
  for (const { headers } of refused) t.match(headers.ratelimit, /^"(short|long)";r=0;t=\d+$/);
});

t.test('does not count a repeat of an existing item', async (t) => {
  const { pool, limits, counts } = await createLimits(t);
  const take = limits[0]?.take as (typeof limits)[number]['take'];
  await pool.query('CREATE TABLE things (id uuid PRIMARY KEY)');
  const existing = times(6, () => randomUUID());
  await pool.query('INSERT INTO things SELECT unnest($1::uuid[])', [existing]);
  const unless = (id: string) => sql`SELECT * FROM things WHERE id = ${id}::uuid`;
  for (const allowed of [10, 20]) {
    const ids = times(16, (index) => existing[index] ?? randomUUID());
    const answers = await Promise.all(
      ids.map((id) => take(`192.0.2.${allowed}`, [short(allowed)], unless(id))),
    );
    t.same(
      answers.map(({ counted }) => counted),
      ids.map((id) => !existing.includes(id)),
    );
  }
  t.same(await counts(), ['short 10', 'short 10']);
});

t.test('allows again what was given back', async (t) => {
  const { limits, counts } = await createLimits(t);
  const [{ take, giveBack }] = limits as [(typeof limits)[number]];
  t.ok((await take('192.0.2.1', [short(1), long(1)])).counted);
  t.notOk((await take('192.0.2.1', [short(1), long(1)])).counted);
  await giveBack('192.0.2.1', [short(1), long(1)]);
  t.same(await counts(), ['long 0', 'short 0']);
  t.ok((await take('192.0.2.1', [short(1), long(1)])).counted);
});

t.test('counts no limit that the route of the request does not declare', async (t) => {
  const { limits, counts } = await createLimits(t);
  const [counters] = limits as [(typeof limits)[number]];
  const { take } = routeLimits(counters, { limitKeyAttempts: 1 } as Config);
  const other = {
    kind: 'other',
    window: '1 day',
    setting: 'limitKeyAttempts',
    per: 'address',
    counts: 'others',
  } as const satisfies RateLimit;
  const declared = { ...other, kind: 'declared' } as const;
  const { knock } = defineContract({
    knock: {
      method: 'POST',
      path: '/knock',
      summary: 'Knock',
      tag: 'doors',
      access: 'public',
      limits: [declared],
      replies: {},
      problems: [],
    },
  });
  const call = { route: knock, request: { address: '192.0.2.1' } };
  t.equal((await take(call, [declared])).counted, true);
  t.equal((await take(call, [declared])).counted, false);
  t.throws(
    // @ts-expect-error The route does not declare it.
    () => take(call, [other]),
    { message: 'POST /knock does not declare the limit other' },
  );
  t.same(await counts(), ['declared 1']);
});
