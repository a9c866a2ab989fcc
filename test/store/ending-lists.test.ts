import t from 'tap';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import type { Sql } from '../../platform/sql.ts';
import { publicActivity } from '../../projections/activity/activity.ts';
import { ACTIVITY_TYPES } from '../../projections/activity-entry.ts';
import { publishedArtifacts } from '../../projections/artifacts/artifacts.ts';
import { publicCases } from '../../projections/cases/cases.ts';
import { approvedNotes, approvedReplies, latestNotes } from '../../projections/guestbook/notes.ts';
import { blocksOf } from '../support/blocks.ts';
import { testDatabase } from '../support/database.ts';

const LEFT = '11111111-1111-4111-8111-111111111111';
const THREAD = '22222222-2222-4222-8222-222222222222';

/** Records of each kind whose author's account was closed; all are newer than those of others. */
const HIDDEN = 20_000;
const SHOWN = 30;
const PAGE = 21;

const ROWS = [
  `CREATE TEMP TABLE many AS SELECT gen_random_uuid() AS id, gen_random_uuid() AS entry,
      gen_random_uuid() AS reply, now() - n * interval '1 second' AS at, type,
      CASE WHEN n > ${HIDDEN} THEN gen_random_uuid() ELSE '${LEFT}' END AS author
    FROM generate_series(1, ${HIDDEN + SHOWN * ACTIVITY_TYPES.length}) n,
      LATERAL (SELECT ('{${ACTIVITY_TYPES}}'::text[])[1 + n % ${ACTIVITY_TYPES.length}] AS type) types`,
  `INSERT INTO members (member_id, state, key_epoch, registered_at, ending)
    VALUES ('${LEFT}', 'deactivated', 1, now(), 'erases_notes')`,
  `INSERT INTO activity (entry_id, type, occurred_at, actor, subject_type, subject_id, author_id)
    SELECT entry, type, at, jsonb_build_object('type', 'member', 'id', author),
      split_part(type, '.', 1), id, author FROM many ORDER BY id`,
  `INSERT INTO cases (case_id, author_id, title, summary, objective, acceptance_criteria, state,
      version, created_at, updated_at)
    SELECT id, author, 'A', 'B', 'C', '{}', 'open', 1, at, at FROM many ORDER BY id`,
  `INSERT INTO artifacts (artifact_id, author_id, kind, title, content_hash, packet, state, version,
      created_at)
    SELECT id, author, 'brief', 'A', md5(''), '{}', 'published', 1, at FROM many ORDER BY id`,
  `INSERT INTO profiles (member_id, display_name, summary, links, capabilities, state, version,
      published_at, removal_told)
    SELECT id, 'A', 'B', '{}', '{}', 'published', 1, at, false FROM many ORDER BY id`,
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, name, message, state,
      version, submitted_at, approved_at, settled_at)
    SELECT id, author, author, 'service', 'member', '', 'A', 'approved', 2, at, at, at
    FROM many ORDER BY id`,
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, parent_id, name, message,
      state, version, submitted_at, approved_at, settled_at)
    SELECT reply, author, author, 'service', 'member', '${THREAD}', '', 'A', 'approved', 2, at, at, at
    FROM many ORDER BY id`,
  'VACUUM ANALYZE',
];

/** Has the planner read rows in the order of an index, as it does where the index lacks the author. */
const READ_ROWS = ['indexonlyscan', 'bitmapscan', 'sort']
  .map((way) => `SET LOCAL enable_${way} = off`)
  .join(';');

const LISTS: Readonly<Record<string, Sql>> = {
  'all activity': publicActivity(undefined, PAGE),
  ...Object.fromEntries(ACTIVITY_TYPES.map((type) => [type, publicActivity(type, PAGE)])),
  'all cases': publicCases({}, PAGE),
  'open cases': publicCases({ state: 'open' }, PAGE),
  'all packets': publishedArtifacts({}, PAGE),
  'packets of a kind': publishedArtifacts({ kind: 'brief' }, PAGE),
  'a guestbook': approvedNotes('service', PAGE),
  'the replies of a thread': approvedReplies(THREAD, PAGE),
  'the feed of a guestbook': latestNotes('service', PAGE),
};

/** Lists that show nothing, because their one author is gone. */
const OF_AUTHOR: Readonly<Record<string, Sql>> = {
  'the cases of the author': publicCases({ author_id: LEFT }, PAGE),
  'the open cases of the author': publicCases({ author_id: LEFT, state: 'open' }, PAGE),
  'the packets of the author': publishedArtifacts({ author: LEFT }, PAGE),
};

t.test(
  'lists read index entries, and no rows, of a closed account with many records',
  async (t) => {
    const { url } = await testDatabase(t);
    await withConnection(url, async (client) => {
      for (const text of ROWS) await client.query(text);
      await client.query(BY_INDEX);
      for (const mode of ['force_generic_plan', 'force_custom_plan']) {
        for (const [name, read] of Object.entries(LISTS)) {
          const { blocks, rows } = await blocksOf(client, read, mode);
          t.equal(rows, PAGE, `${name}: a full page, ${mode}`);
          await client.query(`BEGIN; ${READ_ROWS}`);
          const { blocks: all } = await blocksOf(client, read, mode);
          await client.query('ROLLBACK');
          t.ok(blocks < all / 5, `${name}: ${blocks} blocks instead of ${all}, ${mode}`);
        }
        for (const [name, read] of Object.entries(OF_AUTHOR)) {
          const { blocks, rows } = await blocksOf(client, read, mode);
          t.same([rows, blocks < 10], [0, true], `${name}: ${blocks} blocks, ${mode}`);
        }
      }
    });
  },
);
