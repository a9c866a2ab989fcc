import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import t from 'tap';
import { createPool } from '../../platform/postgres/pool.ts';
import { sql } from '../../platform/sql.ts';
import { createPastReads } from '../../projections/past/past-reads.ts';
import { catalogue, projections } from '../../services/features.ts';
import { noteScope } from '../../services/moderation/decisions/past-scopes.ts';
import { testDatabase } from '../support/database.ts';

const count = sql<{ notes: number }>`SELECT count(*)::int AS notes FROM notes`;

/** Rows of the log and of the notes that this server process has read, temporary tables aside. */
async function rowsRead(pool: pg.Pool): Promise<number> {
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ read: string }>(
    `SELECT sum(seq_tup_read + idx_tup_fetch) AS read FROM pg_stat_user_tables
     WHERE schemaname = 'public'`,
  );
  return Number(rows[0]?.read ?? 0);
}

/** Writes notes of one member, or of as many guests, as replies to a note. */
const write = (pool: pg.Pool, notes: number, memberId: string | null, parentId: string | null) =>
  pool.query(
    `WITH made AS MATERIALIZED (SELECT gen_random_uuid() AS id, n FROM generate_series(1, $1::int) n),
      kept AS (INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, parent_id, name,
          message, state, version, submitted_at)
        SELECT id, coalesce($2::uuid, id), $2::uuid, 'service',
          CASE WHEN $2::uuid IS NULL THEN 'guest' ELSE 'member' END, $3::uuid, '', 'Hello', 'pending', 1,
          timestamptz '2026-01-01Z' + n * interval '1 second' FROM made)
    INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor,
      recorded_at)
    SELECT coalesce($2::uuid, id), 'note-' || id, 1, gen_random_uuid(), 'NoteSubmitted',
      jsonb_build_object('note_id', id, 'member_id', $2::uuid, 'experience', 'service',
        'attribution', CASE WHEN $2::uuid IS NULL THEN 'guest' ELSE 'member' END,
        'parent_id', $3::uuid),
      '{"name": "", "message": "Hello"}', '{"type": "guest"}',
      timestamptz '2026-01-01Z' + n * interval '1 second' FROM made ORDER BY n`,
    [notes, memberId, parentId],
  );

t.test('reads no more of a huge thread or a huge member than an answer may need', async (t) => {
  const { url, pool: admin } = await testDatabase(t);
  const pool = createPool(url, 'test', 1);
  t.teardown(() => pool.end());
  const read = createPastReads({ pool, catalogue, projections });
  const member = randomUUID();
  await write(admin, 20_000, member, null);
  await write(admin, 1, null, null);
  const newest = async () =>
    (await admin.query('SELECT note_id AS id FROM notes WHERE member_id IS NULL LIMIT 1')).rows[0]
      .id;
  const parent = await newest();
  await write(admin, 10_000, null, parent);
  await admin.query('ANALYZE');
  const end = { time: new Date('2026-02-01T00:00:00Z') };
  const { signal } = new AbortController();

  const before = await rowsRead(pool);
  const thread = await read(end, noteScope(parent), (reads) => reads.query(count), signal);
  t.same(thread, [{ notes: 51 }], 'the note and its newest replies');
  const ofThread = (await rowsRead(pool)) - before;
  t.ok(ofThread < 2000, `${ofThread} rows of a thread with 10,000 notes`);

  const { rows } = await admin.query('SELECT note_id FROM notes WHERE member_id = $1 LIMIT 1', [
    member,
  ]);
  const ofMember = await read(
    end,
    noteScope(rows[0].note_id),
    (reads) => reads.query(count),
    signal,
  );
  const message = 'needs more than 5,000 events of the log, the most that are read';
  t.same(ofMember, {
    refused: 'invalid_request',
    details: { issues: [{ path: 'as_of', message }] },
  });
  const refused = (await rowsRead(pool)) - before - ofThread;
  t.ok(refused < 40_000, `${refused} rows of a member with 20,000 notes`);

  const { rows: left } = await admin.query(
    `SELECT relname FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'`,
  );
  t.same(left, [], 'no temporary table outlives a read');
});

t.test('finds the end of a stream without reading what came later', async (t) => {
  const { url, pool: admin } = await testDatabase(t);
  const pool = createPool(url, 'test', 1);
  t.teardown(() => pool.end());
  const read = createPastReads({ pool, catalogue, projections });
  await write(admin, 1, null, null);
  const { id } = (await admin.query('SELECT note_id AS id FROM notes')).rows[0];
  await admin.query(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
     SELECT $1::uuid, 'note-' || $1::uuid, n, gen_random_uuid(), 'NoteReported',
       jsonb_build_object('note_id', $1::uuid, 'report_id', gen_random_uuid(), 'member_id', null,
         'reason', 'spam', 'silent', false),
       '{"type": "guest"}', timestamptz '2026-01-01Z' + n * interval '1 minute'
     FROM generate_series(2, 20000) n ORDER BY n`,
    [id],
  );
  const reports = sql<{ reports: number }>`SELECT count(*)::int AS reports FROM note_reports`;
  const { signal } = new AbortController();
  const early = { time: new Date('2026-01-01T01:40:00Z') };
  const before = await rowsRead(pool);
  const found = await read(early, noteScope(id), (reads) => reads.query(reports), signal);
  t.same(found, [{ reports: 99 }]);
  const few = (await rowsRead(pool)) - before;
  t.ok(few < 1000, `${few} rows of a stream with 20,000 events`);
  const late = { time: new Date('2026-12-31T00:00:00Z') };
  t.match(
    await read({ time: new Date() }, noteScope(id), (reads) => reads.query(reports), signal),
    {
      refused: 'invalid_request',
    },
  );
  t.match(await read(late, noteScope(id), (reads) => reads.query(reports), signal), {
    details: { issues: [{ message: 'must not be in the future' }] },
  });
});
