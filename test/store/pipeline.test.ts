import pg from 'pg';
import t, { type Test } from 'tap';
import { clientConfig } from '../../platform/postgres/connection.ts';
import { pipeline } from '../../platform/postgres/pipeline.ts';
import { sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';

async function connectClient(t: Test): Promise<pg.Client> {
  const { url } = await testDatabase(t);
  const client = new pg.Client(clientConfig(url, 'test'));
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

const pair = (one: number, other: string | null) =>
  sql`SELECT ${one}::bigint AS one, ${other}::text AS other`;
const list = () => sql`SELECT n, jsonb_build_object('n', n) AS body FROM generate_series(1, 3) n`;
const createTable = () => sql`CREATE TEMP TABLE IF NOT EXISTS made (n int)`;
const insert = (n: number) => sql`INSERT INTO made (n) VALUES (${n})`;
const divide = (by: number) => sql`SELECT 1 / ${by}::int AS result`;

t.test('resolves to the rows of each statement', async (t) => {
  const client = await connectClient(t);
  for (const round of [1, 2]) {
    const rows = await pipeline(client, [
      createTable(),
      pair(2 ** 40, 'é'),
      insert(round),
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
  }
});

t.test('rejects with the first error of a transaction and keeps none of it', async (t) => {
  const client = await connectClient(t);
  const [begin, commit, rollback] = [sql`BEGIN`, sql`COMMIT`, sql`ROLLBACK`];
  await pipeline(client, [createTable()]);
  for (const by of [0, 0]) {
    await t.rejects(
      pipeline(client, [begin, insert(1), divide(by), insert(1), commit]),
      { code: '22012' },
      'division by zero',
    );
    await pipeline(client, [rollback]);
  }
  const outside = [insert(1), divide(0), insert(1)];
  await t.rejects(pipeline(client, outside), { code: '22012' }, 'one transaction without BEGIN');
  t.same(await pipeline(client, [divide(1), sql`SELECT n FROM made`]), [[{ result: 1 }], []]);
});

t.test('sends nothing if one value cannot be sent', async (t) => {
  const client = await connectClient(t);
  await pipeline(client, [createTable()]);
  const endless: unknown[] = [];
  endless.push({ endless });
  await t.rejects(pipeline(client, [insert(1), sql`SELECT ${{ endless }}::jsonb`]), TypeError);
  t.same(await pipeline(client, [sql`SELECT count(*) AS count FROM made`]), [[{ count: 0 }]]);
});

t.test('rejects an unreadable value and keeps the connection usable', async (t) => {
  const client = await connectClient(t);
  const [given] = [pg.types.getTypeParser(pg.types.builtins.MONEY, 'text')];
  t.teardown(() => pg.types.setTypeParser(pg.types.builtins.MONEY, given));
  pg.types.setTypeParser(pg.types.builtins.MONEY, () => {
    throw new RangeError('no money');
  });
  await t.rejects(pipeline(client, [sql`SELECT 1::money AS one`, pair(1, '')]), RangeError);
  t.same(await pipeline(client, [pair(1, '')]), [[{ one: 1, other: '' }]]);
});

t.test('rejects when COMMIT is answered with ROLLBACK', async (t) => {
  const client = await connectClient(t);
  const [begin, commit] = [sql`BEGIN`, sql`COMMIT`];
  await pipeline(client, [createTable()]);
  for (let time = 0; time < 2; time++) {
    await t.rejects(pipeline(client, [begin, insert(1), divide(0)]), { code: '22012' });
    // After the transaction has failed, the server reports no error for COMMIT.
    await t.rejects(pipeline(client, [commit]), { message: 'not committed' });
  }
  await pipeline(client, [begin, insert(1), commit]);
  t.same(await pipeline(client, [sql`SELECT count(*) AS count FROM made`]), [[{ count: 1 }]]);
});
