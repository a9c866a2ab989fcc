import pg from 'pg';
import t, { type Test } from 'tap';
import { BY_INDEX } from '../../platform/postgres/connection.ts';
import { toSearchQuery, toVector } from '../../platform/word-vector.ts';
import {
  type FoundRow,
  MAX_CANDIDATES,
  SEARCH_KINDS,
  type SearchKind,
  searchPublic,
} from '../../projections/search/search.ts';
import { SPLIT_TABLES } from '../../projections/search/unsplit.ts';
import { splitWordsOfOldRows } from '../../workers/search/split-words.ts';
import { testDatabase } from '../support/database.ts';
import { countRowsRead } from '../support/rows-read.ts';

/** More than a search looks at. */
const ROWS = MAX_CANDIDATES + 500;

/** Every record has `harbour`, 1 in 100 `often`, three `rare`, and the older half `formerly`. */
const FILL = [
  `CREATE TEMP TABLE more AS SELECT n, gen_random_uuid() AS a, gen_random_uuid() AS b,
    now() - n * interval '1 minute' AS at, 'harbour' || CASE WHEN n % 100 = 0 THEN ' often' ELSE '' END ||
    CASE WHEN n % 1000 = 7 THEN ' rare' ELSE '' END ||
    CASE WHEN n > ${ROWS / 2} THEN ' formerly' ELSE '' END AS words FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO members (member_id, handle, state, key_epoch, registered_at)
    SELECT a, 'more_' || n, 'active', 1, at FROM more`,
  `INSERT INTO profiles (member_id, display_name, summary, links, capabilities, state, version,
      published_at, removal_told)
    SELECT a, 'More', words, '{}', '{}', 'published', 1, at, false FROM more`,
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, name, message, state,
      version, submitted_at, approved_at, settled_at)
    SELECT b, a, a, 'service', 'member', '', words, 'approved', 2, at, at, at FROM more`,
  `INSERT INTO artifacts (artifact_id, author_id, kind, title, content_hash, packet, state, version,
      created_at)
    SELECT gen_random_uuid(), a, 'brief', words, md5('') || md5(''), '{}', 'published', 1, at FROM more`,
  `INSERT INTO cases (case_id, author_id, title, summary, objective, acceptance_criteria, state,
      version, created_at, updated_at)
    SELECT gen_random_uuid(), a, words, 'Of it', 'Find it', '{}', 'open', 1, at, at FROM more`,
  'ANALYZE',
];

async function createFilledDatabase(t: Test) {
  const { url, pool } = await testDatabase(t);
  const client = new pg.Client(url);
  await client.connect();
  t.teardown(() => client.end());
  await client.query(BY_INDEX);
  await client.query('SET enable_sort = off');
  for (const text of FILL) await client.query(text);
  await splitWordsOfOldRows(pool);
  await client.query('VACUUM ANALYZE notes, profiles, artifacts, cases');

  async function search(
    words: string,
    kind: SearchKind | undefined,
    limit: number,
    last?: FoundRow,
  ) {
    const place = last && { at: last.place, id: last.id };
    const statement = searchPublic(toSearchQuery(words), kind, limit, place);
    const { rows } = await client.query(statement);
    const found: FoundRow[] = rows.filter(({ id }) => id !== null);
    return { found, count: rows[0].count, complete: rows[0].complete };
  }

  const find = async (...given: Parameters<typeof search>) => (await search(...given)).found;

  const read = (words: string, kind: SearchKind | undefined) =>
    countRowsRead(client, searchPublic(toSearchQuery(words), kind, 21), [
      'tsquery',
      'tsquery',
      'text',
      'timestamptz',
      'uuid',
      'bigint',
    ]);

  return { client, pool, search, find, read };
}

t.test('looks at a bounded number of records, however many match', async (t) => {
  const { read, search } = await createFilledDatabase(t);
  for (const kind of SEARCH_KINDS) {
    const checkRows = async (words: string, matches: number) => {
      const rows = await read(words, kind);
      t.ok(rows <= matches + 4 * 21, `${kind} ${words}: ${rows} rows`);
    };
    await checkRows('zebra', 0);
    await checkRows('rare', 3);
    await checkRows('often', ROWS / 100);
    await checkRows('harbour zebra', 0);
    await checkRows('harbour', 2 * MAX_CANDIDATES + 1);
    await checkRows('"harbour harbour"', 2 * MAX_CANDIDATES + 1);
    await checkRows('-harbour', MAX_CANDIDATES);
  }
  const all = await read('zebra', undefined);
  t.ok(all <= 10, `all kinds: ${all} rows`);
  t.match(await search('rare', 'note', 2), { count: 3, complete: true });
  t.match(await search('"harbour harbour"', 'note', 2), { count: 0, complete: false });
  t.match(await search('harbour', 'note', 2), { complete: false });
});

t.test('finds words with composed and decomposed letters, and without accents', async (t) => {
  const { client, pool, find } = await createFilledDatabase(t);
  const spellings = ['café'.normalize('NFC'), 'café'.normalize('NFD'), 'ｃａｆé', 'cafe'];
  await client.query(
    `UPDATE notes SET message = ($1::text[])[n], words = NULL FROM (SELECT note_id, row_number() OVER
        (ORDER BY approved_at) AS n FROM notes) oldest
      WHERE notes.note_id = oldest.note_id AND n <= $2`,
    [spellings, spellings.length],
  );
  await splitWordsOfOldRows(pool);
  for (const words of spellings)
    t.same(
      (await find(words, 'note', 5)).map(({ texts }) => texts[0]).sort(),
      spellings.toSorted(),
    );
});

t.test('splits the rows of an earlier release, and clears the words of erased texts', async (t) => {
  const { client, pool, search } = await createFilledDatabase(t);
  const words = (table: string) =>
    client
      .query(`SELECT count(words)::int AS split FROM ${table}`)
      .then(({ rows }) => rows[0].split);
  for (const table of SPLIT_TABLES) t.equal(await words(table), ROWS, table);
  await client.query('UPDATE notes SET words = NULL');
  t.match(await search('rare', 'note', 5), { count: 0, complete: false }, 'says what is missing');
  t.equal(await splitWordsOfOldRows(pool), ROWS);
  t.match(await search('rare', 'note', 5), { count: 3, complete: true });
  t.equal(await splitWordsOfOldRows(pool), 0, 'nothing is left');

  await client.query('UPDATE notes SET message = NULL');
  await splitWordsOfOldRows(pool);
  t.equal(await words('notes'), 0, 'no word of an erased text is kept');
});

t.test('stores a text that has the longest words and no words at all', async (t) => {
  const { client } = await createFilledDatabase(t);
  for (const text of ['😀', '\u{20000}'.repeat(5000), 'x'.repeat(5000), 'ﷺ'.repeat(500), "'\\'&|!"])
    await client.query('SELECT $1::tsvector', [toVector([text])]);
  t.equal(toVector([null]), null);
  t.equal(toVector(['🎉']), '');
});

t.test('pages through a search completely and in order, by either index', async (t) => {
  const { find } = await createFilledDatabase(t);
  const pages = async (words: string, kind: SearchKind | undefined, limit: number) => {
    const found: FoundRow[] = [];
    for (;;) {
      const page = await find(words, kind, limit, found.at(-1));
      found.push(...page);
      if (page.length < limit) return found;
    }
  };
  for (const kind of SEARCH_KINDS) {
    for (const [words, matches, limit] of [
      ['zebra', 0, 21],
      ['rare', 3, 2],
      ['often', ROWS / 100, 7],
      ['formerly', ROWS / 2, 100],
      ['often or rare', ROWS / 100 + 3, 7],
      ['often -rare', ROWS / 100, 7],
    ] as const) {
      const found = await pages(words, kind, limit);
      t.equal(new Set(found.map(({ id }) => id)).size, matches, `${kind} ${words}`);
      t.equal(found.length, matches, 'each match is listed once');
      const places = found.map(({ place }) => place);
      t.same(places, [...places].sort().reverse(), 'the newest match comes first');
    }
  }
  t.equal((await pages('often', undefined, 10)).length, (4 * ROWS) / 100);
  for (const handle of ['more_2500', '@more_2500', '"more_2500"', ' " More_2500 " ']) {
    const [member, ...others] = await find(handle, undefined, 5);
    t.same([member?.kind, others], ['member', []], `a member is found by ${handle}`);
  }
});
