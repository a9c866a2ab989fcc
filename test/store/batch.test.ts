import pg from 'pg';
import t, { type Test } from 'tap';
import {
  defineBatch,
  defineInsert,
  defineRead,
  mergeBatches,
  readsByKey,
} from '../../platform/postgres/batch-statements.ts';
import { BY_INDEX, clientConfig } from '../../platform/postgres/connection.ts';
import { pipeline } from '../../platform/postgres/pipeline.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';

const insertWord = defineInsert('words', {
  word: 'text',
  place: 'int',
  said: 'timestamptz',
  body: 'jsonb',
  tags: 'text[]',
});
const word = (text: string | null, place = 1, tags: string[] | null = []) =>
  insertWord({ word: text, place, said: new Date('2026-01-01'), body: { text }, tags });

const count = defineInsert(
  'counts',
  { name: 'text', used: 'int' },
  { key: ['name'], conflict: 'DO UPDATE SET used = counts.used + excluded.used' },
);
const move = defineBatch(
  'words',
  { word: 'text', place: 'int' },
  (given) => `UPDATE words w SET place = given.place FROM ${given} WHERE w.word = given.word`,
  ['word'],
);
const findPlaces = defineRead<{ word: string; place: number }>(
  { word: 'text' },
  ({ word }) => `SELECT word, place FROM words WHERE word = ${word} ORDER BY place DESC`,
);
// Other files in this process look at the reads of the service, which has no such table.
readsByKey.pop();

async function connectClient(t: Test): Promise<pg.Client> {
  const { url } = await testDatabase(t, { empty: true });
  const client = new pg.Client(clientConfig(url, 'test'));
  await client.connect();
  t.teardown(() => client.end());
  await client.query(`CREATE TABLE words (word text, place int, said timestamptz, body jsonb, tags text[]);
    CREATE TABLE counts (name text PRIMARY KEY, used int)`);
  return client;
}

const ODD = ['plain', 'the "quoted"', "it's", 'back\\slash', '{a,b}', 'NULL', '', 'é 𝒳\n', '$1'];

const rowsOf = (statements: readonly Sql[]) =>
  statements.map(({ values }) => (values[0] as unknown[]).length);

t.test('sends rows for one table in one statement, whatever their text', async (t) => {
  const client = await connectClient(t);
  const merged = mergeBatches([
    ...ODD.map((text, place) => word(text, place, ODD)),
    word(null, 99, null),
  ]);
  t.equal(merged.length, 1);
  await pipeline(client, merged);
  const { rows } = await client.query('SELECT word, body, tags, said FROM words ORDER BY place');
  t.same(
    rows,
    [...ODD, null].map((text) => ({
      word: text,
      body: { text },
      tags: text === null ? null : ODD,
      said: new Date('2026-01-01'),
    })),
  );
});

t.test('uses the same statement text for one row and for many', async (t) => {
  const [one] = mergeBatches([word('a')]);
  const [many] = mergeBatches([word('a'), word('b'), word('c')]);
  t.equal(one?.text, many?.text);
  t.equal(one?.name, many?.name);
});

t.test('keeps the order of writes to a table and merges across other tables', async (t) => {
  const statements = [
    word('a'),
    count({ name: 'x', used: 1 }),
    word('b'),
    count({ name: 'y', used: 1 }),
    move({ word: 'a', place: 2 }),
    word('c'),
  ];
  const merged = mergeBatches(statements);
  t.same(
    merged.map(({ text }) => /^\s*(\w+ )(?:INTO )?(\w+)/.exec(text)?.slice(1).join('')),
    ['INSERT words', 'INSERT counts', 'UPDATE words', 'INSERT words'],
  );
  t.same(rowsOf(merged), [2, 2, 1, 1]);
});

t.test('keeps the place of a statement that cannot be merged', async (t) => {
  const plain = sql`DELETE FROM words`;
  const merged = mergeBatches([word('a'), word('b'), plain, word('c')]);
  t.equal(merged[1], plain);
  t.equal(merged.length, 3);
});

t.test('changes no row twice in one statement', async (t) => {
  const client = await connectClient(t);
  const upserts = ['x', 'y', 'x', 'y', 'z'].map((name) => count({ name, used: 1 }));
  const merged = mergeBatches(upserts);
  t.same(rowsOf(merged), [2, 3]);
  await pipeline(client, merged);
  const { rows } = await client.query('SELECT name, used FROM counts ORDER BY name');
  t.same(rows, [
    { name: 'x', used: 2 },
    { name: 'y', used: 2 },
    { name: 'z', used: 1 },
  ]);
  t.same(
    rowsOf(mergeBatches([move({ word: 'a', place: 1 }), move({ word: 'a', place: 2 })])),
    [1, 1],
  );
});

t.test(
  'merges writes that alternate between rows of one table, but keeps the order for each row',
  async (t) => {
    const client = await connectClient(t);
    await client.query('CREATE TABLE desks (name text PRIMARY KEY, holder text)');
    const columns = { name: 'text', holder: 'text' } as const;
    const open = defineInsert('desks', columns, { key: ['name'] });
    const pass = defineBatch(
      'desks',
      columns,
      (given) => `UPDATE desks d SET holder = given.holder FROM ${given} WHERE d.name = given.name`,
      ['name'],
    );
    const statements = ['north', 'south', 'east'].flatMap((name) => [
      open({ name, holder: 'none' }),
      pass({ name, holder: 'Ada' }),
    ]);
    const merged = mergeBatches([...statements, pass({ name: 'south', holder: 'Bob' })]);
    t.same(rowsOf(merged), [3, 3, 1], 'the second update of one row comes after the first');
    await pipeline(client, merged);
    const { rows } = await client.query('SELECT name, holder FROM desks ORDER BY name');
    t.same(rows, [
      { name: 'east', holder: 'Ada' },
      { name: 'north', holder: 'Ada' },
      { name: 'south', holder: 'Bob' },
    ]);

    const reopened = mergeBatches([
      pass({ name: 'north', holder: 'Bob' }),
      open({ name: 'west', holder: 'none' }),
      pass({ name: 'west', holder: 'Bob' }),
    ]);
    t.same(rowsOf(reopened), [1, 1, 1], 'no update overtakes the insert of its row');
  },
);

t.test('does not move a write before one whose row is unknown', (t) => {
  const statements = [move({ word: 'a', place: 1 }), word('b'), move({ word: 'c', place: 2 })];
  t.same(rowsOf(mergeBatches(statements)), [1, 1, 1]);
  t.end();
});

t.test('refuses two keys for one table', (t) => {
  t.throws(() => defineInsert('words', { place: 'int' }, { key: ['place'] }), {
    message: 'rows of words are identified by word, not by place',
  });
  t.end();
});

t.test('finds by many keys together what it finds for each key', async (t) => {
  const client = await connectClient(t);
  await pipeline(
    client,
    mergeBatches(ODD.flatMap((text, at) => [word(text, at), word(text, at + 100)])),
  );
  const reads = [...ODD, 'nowhere'].map((text) => findPlaces({ word: text }));
  const alone = await pipeline(client, reads);
  const [together] = await pipeline(client, [
    { ...(reads[0]?.many as Sql), values: [reads.map(({ values }) => values[0])] },
  ]);
  t.same(
    reads.map((_, index) =>
      (together ?? []).filter((row) => row['#'] === index + 1).map(({ '#': _turn, ...row }) => row),
    ),
    alone,
  );
});

t.test('looks up each key by index, also if planned on an empty table', async (t) => {
  const client = await connectClient(t);
  await client.query('CREATE INDEX words_by_word ON words (word)');
  await client.query('VACUUM ANALYZE words');
  await client.query(BY_INDEX);
  await client.query('SET enable_hashjoin = off');
  await client.query('SET enable_mergejoin = off');
  await client.query(`PREPARE reads AS ${findPlaces({ word: 'one' }).many?.text}`);
  const { rows } = await client.query(`EXPLAIN EXECUTE reads ('{one,two}')`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  t.match(plan, /Index Cond: \(word = given\.word\)/);
});
