import pg from 'pg';
import t, { type Test } from 'tap';
import { gatherReads } from '../../services/eventstore/reads.ts';
import { type Sql, sql } from '../../services/eventstore/sql.ts';
import { BY_INDEX, clientConfig } from '../../services/postgres/connection.ts';
import { pipeline } from '../../services/postgres/pipeline.ts';
import { testDatabase } from '../harness/database.ts';

async function connected(t: Test): Promise<pg.Client> {
  const { url } = await testDatabase(t, { empty: true });
  const client = new pg.Client(clientConfig(url, 'test'));
  await client.connect();
  t.teardown(() => client.end());
  await client.query('CREATE TABLE words (word text, place int, said timestamptz, body jsonb)');
  return client;
}

const put = (word: string, place: number) =>
  sql`INSERT INTO words VALUES (${word}, ${place}, '2026-01-01Z', ${{ word }})`;
const places = (word: string | null) =>
  sql`SELECT word, place, body FROM words WHERE word = ${word}::text ORDER BY place DESC`;
const since = (word: string, at: Date) =>
  sql`SELECT count(*)::int AS count, ${word}::text AS given FROM words
    WHERE word = ${word}::text AND said >= ${at}::timestamptz`;
const loose = (word: string) => sql`SELECT place FROM words WHERE word = ${word}`;
const some = (words: string[]) => sql`SELECT place FROM words WHERE word = ANY(${words}::text[])`;
const plain = (word: string) => sql`SELECT place FROM words WHERE word = ${word}::text`;
const locked = (word: string) => sql`SELECT place FROM words WHERE word = ${word}::text FOR UPDATE`;
const clock = () => sql`SELECT clock_timestamp() AS now`;

/** What each read finds when it goes alone. */
const alone = (client: pg.Client, lists: Sql[][]) =>
  Promise.all(lists.map((list) => pipeline(client, list)));

t.test('reads of several commands find what each finds alone', async (t) => {
  const client = await connected(t);
  const words = [
    'plain',
    'the "quoted"',
    "it's",
    'back\\slash',
    '{a,b}',
    'NULL',
    '',
    'é 𝒳\n',
    '$1',
  ];
  await pipeline(
    client,
    words.flatMap((word, index) => [put(word, index), put(word, index + 100)]),
  );
  const [early, late] = [new Date('2025-01-01'), new Date('2027-01-01')];
  const lists = [
    ...words.map((word, index) => [places(word), since(word, index % 2 ? early : late)]),
    [places('nowhere'), places(null), since("it's", early), places('plain')],
    [],
    [loose('plain'), some(['plain', "it's"]), places('')],
    [loose("it's"), some(['nowhere'])],
  ];
  const { statements, deal } = gatherReads(lists);
  t.equal(statements.length, 6, 'two kinds as one each, and four reads apart');
  const found = deal(await pipeline(client, statements));
  t.same(found, await alone(client, lists));
  t.same(
    found[0]?.[0]?.map(({ place }) => place),
    [100, 0],
    'in the order asked for',
  );
});

t.test('it is one statement for any number of them', async (t) => {
  const texts = [2, 3, 17].map((count) => {
    const { statements } = gatherReads(Array.from({ length: count }, () => [places('x')]));
    t.equal(statements.length, 1);
    return `${statements[0]?.name} ${statements[0]?.text}`;
  });
  t.equal(new Set(texts).size, 1);
});

t.test(
  'what locks, or whose types nothing tells, goes apart, and so do those of one',
  async (t) => {
    for (const read of [locked('x'), loose('x'), some(['x']), clock()])
      t.same(gatherReads([[read], [read]]).statements, [read, read]);
    const order = [places('x'), locked('x'), places('y')];
    t.same(gatherReads([order]).statements, order, 'a lone command reads in its order');
  },
);

t.test('each is looked up by its key, also where the table was counted while empty', async (t) => {
  const client = await connected(t);
  await client.query('CREATE INDEX words_by_word ON words (word)');
  await client.query('VACUUM ANALYZE words');
  await client.query(BY_INDEX);
  await client.query('SET enable_hashjoin = off');
  await client.query('SET enable_mergejoin = off');
  const [read] = gatherReads([[plain('one')], [plain('two')]]).statements;
  await client.query(`PREPARE reads AS ${read?.text}`);
  const { rows } = await client.query(`EXPLAIN EXECUTE reads ('{one,two}')`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  t.match(plan, /Index Cond: \(word = given\.v1\)/);
});
