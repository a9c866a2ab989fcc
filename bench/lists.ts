import type { KeysetPosition } from '../platform/keyset-cursor.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { createPool } from '../platform/postgres/pool.ts';
import { query } from '../platform/postgres/query.ts';
import type { Sql } from '../platform/sql.ts';
import { publicActivity } from '../projections/activity/activity.ts';
import { publishedArtifacts } from '../projections/artifacts/artifacts.ts';
import { publicCases } from '../projections/cases/cases.ts';
import { publishedProfiles } from '../projections/profiles/profiles.ts';
import type { Bench } from './environment.ts';
import { loops } from './load.ts';

const RECORDS = 100_000;
const PAGE = 50;
const DEEP = 100;
const WIDTH = 4;

type Row = Record<string, string>;

interface List {
  name: string;
  /** The list's query; like the API, measurements ask for one extra row to detect a next page. */
  page: (limit: number, after: KeysetPosition | undefined) => Sql;
  id: string;
}

const LISTS: readonly List[] = [
  {
    name: 'artifacts',
    page: (limit, after) => publishedArtifacts({}, limit, after),
    id: 'artifact_id',
  },
  { name: 'agents', page: publishedProfiles, id: 'member_id' },
  { name: 'cases', page: (limit, after) => publicCases({}, limit, after), id: 'case_id' },
  {
    name: 'open cases',
    page: (limit, after) => publicCases({ state: 'open' }, limit, after),
    id: 'case_id',
  },
  {
    name: 'activity',
    page: (limit, after) => publicActivity(undefined, limit, after),
    id: 'entry_id',
  },
  {
    name: 'activity of one type',
    page: (limit, after) => publicActivity('artifact.published', limit, after),
    id: 'entry_id',
  },
];

/** Compares a page far into each public list (keyset pagination) with its first page. */
export const lists: Bench = {
  name: 'lists',
  async prepare(setting) {
    const url = await setting.database('migrated');
    await seedLists(url, RECORDS);
    const pool = createPool(url, 'bench', WIDTH);
    setting.onEnd(() => pool.end());
    const comparisons = [];
    for (const { name, page, id } of LISTS) {
      let place: KeysetPosition | undefined;
      for (let walked = 1; walked < DEEP; walked++) {
        const rows = (await query(pool, page(PAGE, place))) as Row[];
        const last = rows.at(-1);
        if (rows.length < PAGE || !last) throw new Error(`${name}: ${walked} pages are all`);
        place = { at: last.place ?? '', id: last[id] ?? '' };
      }
      const deep = place;
      const reads = (after: KeysetPosition | undefined) =>
        loops(WIDTH, () => query(pool, page(PAGE + 1, after)));
      comparisons.push({
        name: `page ${DEEP} of ${name}, ${PAGE} of ${RECORDS.toLocaleString('en')}`,
        ours: reads(deep),
        floors: [{ aim: 0.83, name: 'the first page', contender: reads(undefined) }],
      });
    }
    return comparisons;
  },
};

/** Inserts members one second apart, each with a profile, a packet, a case and their activity. */
export async function seedLists(url: string, records: number): Promise<void> {
  await withConnection(url, async (client) => {
    await client.query(
      `CREATE TEMP TABLE seeded AS SELECT n, gen_random_uuid() AS member_id,
          gen_random_uuid() AS artifact_id, gen_random_uuid() AS case_id,
          now() - make_interval(secs => $1 - n) AS at
        FROM generate_series(1, $1::int) n`,
      [records],
    );
    await client.query(
      `INSERT INTO members (member_id, handle, state, key_epoch, registered_at)
        SELECT member_id, 'member_' || n, 'active', 1, at FROM seeded ORDER BY n`,
    );
    await client.query(
      `INSERT INTO profiles (member_id, display_name, summary, links, capabilities, state, version,
          published_at, removal_told)
        SELECT member_id, 'Member ' || n, repeat('About. ', 20), '{}', '{}', 'published', 1, at,
          false FROM seeded ORDER BY n`,
    );
    await client.query(
      `INSERT INTO artifacts (artifact_id, author_id, kind, title, content_hash, packet, state,
          version, created_at)
        SELECT artifact_id, member_id, 'brief', 'Packet ' || n, md5(n::text) || md5(n::text),
          json_build_object('summary', repeat('What it is about. ', 20)), 'published', 1, at
        FROM seeded ORDER BY n`,
    );
    await client.query(
      `INSERT INTO cases (case_id, author_id, title, summary, objective, acceptance_criteria, state,
          version, created_at, updated_at)
        SELECT case_id, member_id, 'Case ' || n, repeat('What happens. ', 10), 'Find it',
          ARRAY['A test'], 'open', 1, at, at FROM seeded ORDER BY n`,
    );
    await client.query(
      `INSERT INTO activity (entry_id, type, occurred_at, actor, subject_type, subject_id)
        SELECT gen_random_uuid(), type, at, jsonb_build_object('type', 'member', 'id', member_id),
          split_part(type, '.', 1), subject_id
        FROM seeded, LATERAL (VALUES ('profile.published', member_id),
          ('artifact.published', artifact_id), ('case.opened', case_id)) told (type, subject_id)
        ORDER BY n`,
    );
    await client.query('VACUUM ANALYZE');
  });
}
