import pg from 'pg';
import t, { type Test } from 'tap';
import { sql } from '../services/eventstore/sql.ts';
import { clientConfig } from '../services/postgres/connection.ts';
import { pipeline } from '../services/postgres/pipeline.ts';
import { testDatabase } from './harness/database.ts';

/** A connection, and how often it asked what a statement answers. */
async function connected(t: Test) {
  const { url } = await testDatabase(t);
  const client = new pg.Client(clientConfig(url, 'test'));
  await client.connect();
  t.teardown(() => client.end());
  const { connection } = client as unknown as { connection: { describe(portal: object): void } };
  const asked = { times: 0 };
  const { describe } = connection;
  connection.describe = function (portal) {
    asked.times++;
    describe.call(this, portal);
  };
  return { client, asked };
}

const pair = (one: number, other: string | null) =>
  sql`SELECT ${one}::bigint AS one, ${other}::text AS other`;
const list = () => sql`SELECT n, jsonb_build_object('n', n) AS body FROM generate_series(1, 3) n`;
const nothing = () => sql`CREATE TEMP TABLE IF NOT EXISTS made (n int)`;
const put = (n: number) => sql`INSERT INTO made (n) VALUES (${n})`;
const divide = (by: number) => sql`SELECT 1 / ${by}::int AS result`;

t.test('each statement answers its own rows, and says but once what they are', async (t) => {
  const { client, asked } = await connected(t);
  for (const round of [1, 2]) {
    const rows = await pipeline(client, [
      nothing(),
      pair(2 ** 40, 'é'),
      put(round),
      list(),
      pair(1, null),
    ]);
    t.same(rows, [
      [],
      [{ one: 2 ** 40, other: 'é' }],
      [],
      [1, 2, 3].map((n) => ({ n, body: { n } })),
      [{ one: 1, other: null }],
    ]);
    // Within one message a statement that stands twice is not known yet when it is asked again.
    t.equal(asked.times, 5);
  }
});

t.test('an error skips what follows, and the connection serves the next', async (t) => {
  const { client } = await connected(t);
  await pipeline(client, [nothing()]);
  for (const by of [0, 0])
    await t.rejects(pipeline(client, [divide(by), put(1)]), { code: '22012' }, 'by zero');
  t.same(await pipeline(client, [divide(1), sql`SELECT n FROM made`]), [[{ result: 1 }], []]);
});

t.test('a value that cannot be sent throws before anything is', async (t) => {
  const { client } = await connected(t);
  await pipeline(client, [nothing()]);
  const endless: unknown[] = [];
  endless.push({ endless });
  t.throws(() => pipeline(client, [put(1), sql`SELECT ${{ endless }}::jsonb`]), TypeError);
  t.same(await pipeline(client, [sql`SELECT count(*) AS count FROM made`]), [[{ count: 0 }]]);
});

t.test('a value that cannot be read rejects, and the connection serves the next', async (t) => {
  const { client } = await connected(t);
  const [given] = [pg.types.getTypeParser(pg.types.builtins.MONEY, 'text')];
  t.teardown(() => pg.types.setTypeParser(pg.types.builtins.MONEY, given));
  pg.types.setTypeParser(pg.types.builtins.MONEY, () => {
    throw new RangeError('no money');
  });
  await t.rejects(pipeline(client, [sql`SELECT 1::money AS one`, pair(1, '')]), RangeError);
  t.same(await pipeline(client, [pair(1, '')]), [[{ one: 1, other: '' }]]);
});

t.test('a COMMIT that is answered with ROLLBACK rejects', async (t) => {
  const { client } = await connected(t);
  const [begin, commit] = [sql`BEGIN`, sql`COMMIT`];
  await pipeline(client, [nothing()]);
  for (let time = 0; time < 2; time++) {
    await t.rejects(pipeline(client, [begin, put(1), divide(0)]), { code: '22012' });
    // The server tells of no error, once the transaction has failed.
    await t.rejects(pipeline(client, [commit]), { message: 'not committed' });
  }
  await pipeline(client, [begin, put(1), commit]);
  t.same(await pipeline(client, [sql`SELECT count(*) AS count FROM made`]), [[{ count: 1 }]]);
});
