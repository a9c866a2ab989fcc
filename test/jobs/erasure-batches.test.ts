import t from 'tap';
import { type Agent, newAgent } from '../../harness/agent.ts';
import { query } from '../../platform/postgres/query.ts';
import { membersToErase } from '../../projections/membership/members.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { BATCH_SIZE } from '../../workers/running/batches.ts';
import { startService } from '../support/service.ts';

/** More than two batches, also for the last step of an erasure. */
const MANY = 2 * BATCH_SIZE + 201;

const remove = async ({ call, handle }: Agent): Promise<void> => {
  const answer = await call('POST', '/api/v1/me/delete', { confirm_handle: handle });
  if (answer.status !== 200) throw new Error(answer.text);
};

/** Kinds of rows that may be numerous: how they are inserted, and which of them are left. */
const kindsOf = (gone: string, other: string): Record<string, { made: string; left: string }> => ({
  sessions: {
    made: `INSERT INTO sessions (session_id, member_id, key_epoch, key_id, hash, started_at, expires_at)
      SELECT gen_random_uuid(), '${gone}', 1, 1, n::text, now(), now() FROM generate_series(1, ${MANY}) n`,
    left: `FROM sessions WHERE member_id = '${gone}'`,
  },
  budgets: {
    made: `INSERT INTO write_budgets (member_id, day, used)
      SELECT '${gone}', current_date - n, 1 FROM generate_series(1, ${MANY}) n`,
    left: `FROM write_budgets WHERE member_id = '${gone}'`,
  },
  uses: {
    made: `INSERT INTO credential_uses (member_id, credential_id, last_used_on)
      SELECT '${gone}', gen_random_uuid(), current_date FROM generate_series(1, ${MANY})`,
    left: `FROM credential_uses WHERE member_id = '${gone}'`,
  },
  receipts: {
    made: `INSERT INTO receipts (owner_id, space, key, operation, route, body_hash, http_status, reply,
        event_ids, recorded_at)
      SELECT '${gone}', 'api', gen_random_uuid(), 'any', 'any', 'h', 200, '{}', '{}', now()
      FROM generate_series(1, ${MANY})`,
    left: `FROM receipts WHERE owner_id = '${gone}' AND (reply IS NOT NULL OR body_hash <> '')`,
  },
  "words in others' receipts": {
    made: `INSERT INTO receipts (owner_id, space, key, operation, route, body_hash, http_status, reply,
        event_ids, recorded_at)
      SELECT '${other}', 'api', gen_random_uuid(), 'case.note', 'any', 'h', 200, json_build_object('case',
        json_build_object('author_id', '${gone}', 'title', 'Words', 'submission',
          json_build_object('member_id', '${gone}', 'summary', 'Words'))), '{}', now()
      FROM generate_series(1, ${MANY})`,
    left: `FROM receipts WHERE owner_id = '${other}' AND reply::text LIKE '%Words%'`,
  },
  'words in a read model': {
    made: `INSERT INTO record_reports (report_id, subject_type, subject_id, author_id, member_id, reason,
        details, state, reported_at)
      SELECT gen_random_uuid(), 'case', gen_random_uuid(), '${other}', '${gone}', 'spam', 'Words', 'kept', now()
      FROM generate_series(1, ${MANY})`,
    left: `FROM record_reports WHERE member_id = '${gone}' AND details IS NOT NULL`,
  },
  "words in another's log": {
    made: `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor,
        recorded_at)
      SELECT '${other}', 'report-' || n, 1, gen_random_uuid(), 'Said', '{}', '{"text": "Words"}',
        jsonb_build_object('type', 'member', 'id', '${gone}'), now()
      FROM generate_series(1, ${MANY}) n`,
    left: `FROM events WHERE owner_id = '${other}' AND stream_id LIKE 'report-%' AND personal IS NOT NULL
      AND actor->>'id' = '${gone}'`,
  },
  "others' words on the member's notes": {
    made: `WITH made AS (INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, state,
          version, submitted_at, erased_at)
        SELECT gen_random_uuid(), '${gone}', '${gone}', 'service', 'member', 'withdrawn', 1, now(), now()
        FROM generate_series(1, ${MANY}) RETURNING note_id)
      INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor,
        recorded_at)
      SELECT '${gone}', 'note-' || note_id, 1, gen_random_uuid(), 'Said', '{}', '{"text": "Words"}',
        jsonb_build_object('type', 'member', 'id', '${other}'), now() FROM made`,
    left: `FROM events WHERE owner_id = '${gone}' AND stream_id LIKE 'note-%' AND personal IS NOT NULL
      AND actor->>'id' = '${other}'`,
  },
});

t.test('leaves no trace of a member with more than two batches of each kind', async (t) => {
  const service = await startService(t);
  const [gone, other] = [await newAgent(service), await newAgent(service)];
  await remove(gone);
  const kinds = Object.entries(kindsOf(gone.id, other.id));
  const left = async (from: string) =>
    (await service.database.pool.query(`SELECT count(*)::int AS count ${from}`)).rows[0].count;
  for (const [name, { made, left: from }] of kinds) {
    await service.tamper(made);
    t.ok((await left(from)) >= MANY, name);
  }
  t.equal(await eraseMembers(service.core, { member_id: gone.id }), 1);
  for (const [name, { left: from }] of kinds) t.equal(await left(from), 0, name);
});

t.test('erases all members whose job was lost, the earliest deletion first', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const members = [await newAgent(service), await newAgent(service), await newAgent(service)];
  const [living, ...leaving] = members.sort((one, other) => (one.id < other.id ? 1 : -1));
  const gone: string[] = [];
  for (const member of leaving) {
    await remove(member);
    gone.push(member.id);
  }
  const waiting = async (limit: number) =>
    (await query(pool, membersToErase(limit))).map(({ member_id }) => member_id);
  t.same(await waiting(1), gone.slice(0, 1));
  t.same(await waiting(BATCH_SIZE), gone);
  t.equal(await eraseMembers(service.core), gone.length);
  t.same(await waiting(BATCH_SIZE), []);
  const { rows } = await pool.query('SELECT member_id FROM members WHERE erased_at IS NULL');
  t.same(rows, [{ member_id: living?.id }]);
});
