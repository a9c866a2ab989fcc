import pg from 'pg';
import t, { type Test } from 'tap';
import { BY_INDEX } from '../../platform/postgres/connection.ts';
import {
  type FoundRow,
  SEARCH_KINDS,
  type SearchKind,
  searchPublic,
} from '../../projections/search/search.ts';
import { testDatabase } from '../support/database.ts';
import { countRowsRead } from '../support/rows-read.ts';

const ROWS = 3000;
/** The number of newest records that a search scans for any word. */
const NEWEST = 200;

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
  const { url } = await testDatabase(t);
  const client = new pg.Client(url);
  await client.connect();
  t.teardown(() => client.end());
  await client.query(BY_INDEX);
  for (const text of FILL) await client.query(text);

  async function find(words: string, kind: SearchKind | undefined, limit: number, last?: FoundRow) {
    const place = last && { at: last.place, id: last.id };
    return (await client.query<FoundRow>(searchPublic(words, kind, limit, place))).rows;
  }

  const read = (words: string, kind: SearchKind | undefined) =>
    countRowsRead(client, searchPublic(words, kind, 21), ['text', 'timestamptz', 'uuid', 'bigint']);

  return { client, find, read };
}

t.test('reads only matches and a few of the newest records in a search', async (t) => {
  const { read } = await createFilledDatabase(t);
  for (const kind of SEARCH_KINDS) {
    // Each match is read for its words and again for its content, a note's author as well.
    const checkRows = async (words: string, matches: number) => {
      const rows = await read(words, kind);
      t.ok(rows <= NEWEST + matches + 3 * 21, `${kind} ${words}: ${rows} rows`);
    };
    await checkRows('zebra', 0);
    await checkRows('rare', 3);
    await checkRows('often', ROWS / 100);
    await checkRows('harbour', 0);
    await checkRows('formerly', ROWS / 2);
    await checkRows('harbour zebra', 0);
  }
  const all = await read('zebra', undefined);
  t.ok(all <= SEARCH_KINDS.length * (NEWEST + 3), `all kinds: ${all} rows`);
});

t.test('finds words with composed and decomposed letters', async (t) => {
  const { client, find } = await createFilledDatabase(t);
  const spellings = ['café'.normalize('NFC'), 'café'.normalize('NFD'), 'ｃａｆé'];
  await client.query(
    `UPDATE notes SET message = ($1::text[])[n] FROM (SELECT note_id, row_number() OVER
        (ORDER BY approved_at) AS n FROM notes) oldest
      WHERE notes.note_id = oldest.note_id AND n <= $2`,
    [spellings, spellings.length],
  );
  // The notes are not among the newest, so the index of words finds them.
  for (const words of spellings)
    t.same(
      (await find(words, 'note', 5)).map(({ excerpt }) => excerpt).sort(),
      spellings.toSorted(),
    );
  t.same(await find('cafe', 'note', 5), [], 'an accent is significant');
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
      ['harbour', ROWS, 500],
    ] as const) {
      const found = await pages(words, kind, limit);
      t.equal(new Set(found.map(({ id }) => id)).size, matches, `${kind} ${words}`);
      t.equal(found.length, matches, 'each match is listed once');
      const places = found.map(({ place }) => place);
      t.same(places, [...places].sort().reverse(), 'the newest match comes first');
    }
  }
  t.equal((await pages('often', undefined, 10)).length, (4 * ROWS) / 100);
  const [member, ...others] = await find('more_2500', undefined, 5);
  t.same([member?.kind, others], ['member', []], 'a member is found by handle');
});
