import { withConnection } from '../platform/postgres/connection.ts';

const EACH = 1000;

/** Fills the log and the feeds with `events` events, 1000 per member, including `member`. */
export async function seedLog(url: string, member: string, events: number): Promise<void> {
  await withConnection(url, async (client) => {
    await client.query('CREATE TEMP TABLE authors (member_id uuid, first int)');
    await client.query(
      `INSERT INTO authors SELECT gen_random_uuid(), 0 FROM generate_series(2, $1)
       UNION ALL SELECT member_id, sequence::int FROM feed_heads WHERE member_id = $2`,
      [events / EACH, member],
    );
    await client.query(
      `CREATE TEMP TABLE entries AS
       SELECT a.member_id, a.first + n AS sequence, gen_random_uuid() AS event_id,
         gen_random_uuid() AS note_id, clock_timestamp() AS at
       FROM generate_series(1, ${EACH}) n, authors a`,
    );
    await client.query(
      `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor, recorded_at)
       SELECT note_id, 'note-' || note_id, 1, event_id, 'NoteSubmitted',
         jsonb_build_object('note_id', note_id, 'member_id', member_id, 'attribution', 'member',
           'experience', 'service', 'parent_id', NULL),
         jsonb_build_object('name', '', 'message', 'A note of the usual length, which says hello.'),
         jsonb_build_object('type', 'member', 'id', member_id), at
       FROM entries ORDER BY sequence`,
    );
    await client.query(
      `INSERT INTO feed (member_id, sequence, event_id, type, occurred_at, subject_type, subject_id, actor, data)
       SELECT member_id, sequence, event_id, 'note.submitted', at, 'note', note_id,
         jsonb_build_object('type', 'member', 'id', member_id),
         jsonb_build_object('experience', 'service', 'parent_id', NULL)
       FROM entries ORDER BY sequence`,
    );
    await client.query(
      `INSERT INTO feed_heads SELECT member_id, max(sequence) FROM entries GROUP BY 1
       ON CONFLICT (member_id) DO UPDATE SET sequence = excluded.sequence`,
    );
    await client.query('VACUUM ANALYZE');
  });
}
