import t from 'tap';
import { withConnection } from '../../platform/postgres/connection.ts';
import { testDatabase } from '../support/database.ts';
import { startRebuild } from '../support/rebuild-command.ts';

const AUTHOR = '11111111-1111-4111-8111-111111111111';
const CASE = '22222222-2222-4222-8222-222222222222';
const PARTICIPANTS = 1000;
const NOTES = 150;

/** Megabytes of heap: enough for a log of any length, and too few for the rows of all notes together. */
const HEAP = 110;

/** Events as earlier releases wrote them: each note on a case names all who take part in it. */
const EVENTS = [
  `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor, recorded_at)
    SELECT '${AUTHOR}', 'case-${CASE}', 1, gen_random_uuid(), 'CaseOpened',
      jsonb_build_object('case_id', '${CASE}', 'author_id', '${AUTHOR}', 'artifact_id', NULL,
        'policy_version', 'service-public-v1'),
      '{"title": "A", "summary": "B", "objective": "C", "acceptance_criteria": []}',
      jsonb_build_object('type', 'member', 'id', '${AUTHOR}'), now()`,
  `CREATE TEMP TABLE participants AS
    SELECT n, gen_random_uuid() AS id FROM generate_series(1, ${PARTICIPANTS}) n`,
  `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor, recorded_at)
    SELECT id, 'member-' || id, 1, gen_random_uuid(), 'MemberRegistered',
      jsonb_build_object('handle_hash', md5(id::text), 'handle_key_id', 1),
      jsonb_build_object('handle', 'member_' || n), jsonb_build_object('type', 'member', 'id', id), now()
    FROM participants`,
  `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor, recorded_at)
    SELECT id, 'case-note-' || note_id, 1, gen_random_uuid(), 'CaseNoted',
      jsonb_build_object('case_id', '${CASE}', 'note_id', note_id, 'policy_version', 'service-public-v1',
        'members', (SELECT jsonb_agg(id) FROM participants)),
      '{"message": "A word on it"}', jsonb_build_object('type', 'member', 'id', id), now()
    FROM participants, LATERAL (SELECT gen_random_uuid() AS note_id WHERE n > 0) notes
    WHERE n <= ${NOTES}`,
];

t.test('rebuilds a case with a thousand participants in bounded memory', async (t) => {
  const { pool, url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    for (const text of EVENTS) await client.query(text);
  });
  const env = { DATABASE_URL: url, NODE_OPTIONS: `--max-old-space-size=${HEAP}` };
  const { code, stderr } = await startRebuild(env).end();
  t.equal(code, 0, stderr);
  const { rows } = await pool.query(
    `SELECT count(*)::int AS count FROM feed WHERE type = 'case.noted'`,
  );
  t.same(rows, [{ count: NOTES * PARTICIPANTS }]);
});
