import { writeHistory } from '../../harness/history.ts';
import { fillPrimaryData, fillTables } from '../../harness/history-tables.ts';
import type { Service } from './service.ts';

/** Additional rows without events, so many that a plan that reads all of them is expensive. */
const MORE = [
  `CREATE TEMP TABLE more AS SELECT n, gen_random_uuid() AS a, gen_random_uuid() AS b,
    gen_random_uuid() AS c, now() - n * interval '10 minutes' AS at FROM generate_series(1, 40000) n`,
  `INSERT INTO members (member_id, handle, state, key_epoch, registered_at)
    SELECT a, 'more_' || n, 'active', 1, at FROM more`,
  `INSERT INTO handles (hash, key_id, member_id) SELECT md5(a::text) || md5(''), 1, a FROM more`,
  `INSERT INTO feed_heads (member_id, sequence) SELECT a, 0 FROM more`,
  `INSERT INTO profiles (member_id, display_name, summary, links, capabilities, state, version,
      published_at, removal_told)
    SELECT a, 'More', 'Of it', '{}', '{}', 'published', 1, at, false FROM more`,
  `INSERT INTO credentials (credential_id, member_id, scopes, state, created_at, expires_at, key_epoch)
    SELECT b, a, '{}', 'expired', at, at, 1 FROM more`,
  `INSERT INTO verifiers (owner_id, purpose, subject_id, key_id, hash)
    SELECT a, 'credential', b, 1, md5(b::text) || md5('') FROM more`,
  `INSERT INTO ended_verifiers (credential_id, member_id, reason, ended_at, key_id, hash)
    SELECT c, a, 'revoked', at, 1, md5(b::text) || md5('') FROM more`,
  `INSERT INTO passkeys (passkey_id, member_id, key_epoch, credential_id, public_key, sign_count,
      transports, name, added_at)
    SELECT c, a, 1, c::text, md5(c::text), 0, '{}', 'More', at FROM more`,
  `INSERT INTO seal_leaves (position, epoch, leaf, facts_salt)
    SELECT 1000000 + n, 1, n, decode(md5(a::text), 'hex') FROM more`,
  `INSERT INTO seal_tiles (epoch, level, index, hashes)
    SELECT 40000, 0, n - 1, decode(repeat(md5(a::text), 2), 'hex') FROM more`,
  `INSERT INTO seal_trees (epoch, origin, verifiers, size, position, checkpoint, signed_at)
    SELECT n, 'more', '{}', n, n, 'more', at FROM more`,
  `INSERT INTO passkey_challenges (holder, slot, challenge, purpose, expires_at)
    SELECT b::text, 1, c::text, 'sign-in', now() + interval '1 day' FROM more`,
  `INSERT INTO credential_uses (member_id, credential_id, last_used_on) SELECT a, b, at FROM more`,
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, name, message, state,
      version, submitted_at, approved_at, settled_at)
    SELECT b, a, a, 'service', 'member', '', 'More of it', 'approved', 2, at, at, at FROM more`,
  `INSERT INTO note_screenings (note_id, rules_version, band, findings, screened_at)
    SELECT b, 1, 'clear', '[]', at FROM more`,
  `INSERT INTO note_decisions (event_id, note_id, version, decision, decided_at)
    SELECT c, b, 2, 'approved', at FROM more`,
  `INSERT INTO decision_figures (event_id, note_id, decided_at, decision, overturned)
    SELECT c, b, at, 'approved', false FROM more`,
  `INSERT INTO moderation_weeks (week, subject, outcome, policy, age, count)
    SELECT date '2026-01-05' - 7 * (n / 100), 'note', 'approved', '', n % 100, 1 FROM more`,
  `INSERT INTO note_reports (report_id, note_id, member_id, reason, state, reported_at)
    SELECT c, b, a, 'spam', 'kept', at FROM more`,
  `INSERT INTO note_appeals (appeal_id, note_id, member_id, of, text, state, opened_at)
    SELECT c, b, a, c, 'Why?', 'upheld', at FROM more`,
  `INSERT INTO member_decisions (event_id, member_id, moderator_id, decision, of, policy, decided_at)
    SELECT c, a, b, 'disabled', c, 'spam', at FROM more`,
  `INSERT INTO member_appeals (appeal_id, member_id, of, text, state, opened_at, decided_at)
    SELECT b, a, c, 'Why?', 'upheld', at, at FROM more`,
  `INSERT INTO note_addresses (note_id, bucket, submitted_at) SELECT b, 'more', at FROM more`,
  `INSERT INTO report_addresses (note_id, bucket, reported_at) SELECT b, 'more', at FROM more`,
  `INSERT INTO rate_counters (kind, bucket, window_start, count)
    SELECT 'key', b::text, at, 1 FROM more`,
  `INSERT INTO artifacts (artifact_id, author_id, kind, title, content_hash, packet, state, version,
      created_at)
    SELECT b, a, 'brief', 'More', md5('') || md5(''), '{}', 'published', 1, at FROM more`,
  `INSERT INTO record_reports (report_id, subject_type, subject_id, author_id, member_id, reason,
      state, reported_at, told_at)
    SELECT c, 'artifact', b, a, a, 'spam', CASE WHEN n % 100 = 0 THEN 'open' ELSE 'kept' END, at, at
    FROM more`,
  // One in a hundred waits: several pages of the queue.
  `INSERT INTO reported_records (subject_type, subject_id, author_id, reported_at, version)
    SELECT 'artifact', b, a, CASE WHEN n % 100 = 0 THEN at END, 1 FROM more`,
  `INSERT INTO record_decisions (event_id, subject_type, subject_id, author_id, decision, decided_at)
    SELECT c, 'artifact', b, a, 'kept', at FROM more`,
  `INSERT INTO cases (case_id, author_id, title, summary, objective, acceptance_criteria, state,
      version, created_at, updated_at, submission_id)
    SELECT b, a, 'More', 'Of it', 'Find it', '{}', 'accepted', 1, at, at, c FROM more`,
  `INSERT INTO case_submissions (submission_id, case_id, member_id, summary, created_at)
    SELECT c, b, a, 'Done', at FROM more`,
  `INSERT INTO case_reviews (review_id, case_id, submission_id, member_id, decision, binding,
      comment, created_at)
    SELECT b, b, c, a, 'accept', true, 'Yes', at FROM more`,
  `INSERT INTO case_notes (note_id, case_id, member_id, message, state, version, created_at)
    SELECT c, b, a, 'A word', 'published', 1, at FROM more`,
  `INSERT INTO moderator_sessions (session_id, moderator_id, key_id, hash, started_at, seen_at,
      expires_at)
    SELECT b, a, 1, md5('') || md5(''), at, at, at FROM more`,
  `INSERT INTO saved_views (moderator_id, view_id, name, shared, view, filters, saved_at)
    SELECT a, b, 'More', true, 'todo', '{}', at FROM more`,
  `INSERT INTO queue_hours (hour, waiting, oldest_seconds)
    SELECT date_trunc('hour', now(), 'UTC') - n * interval '1 hour', n % 40, n * 10 FROM generate_series(0, 336) n`,
  `INSERT INTO note_folds (kind, note_id, moderator_id, folded_at, ends_at)
    SELECT CASE WHEN random() < 0.5 THEN 'text' ELSE 'address' END, note_id, gen_random_uuid(), now(),
      now() + interval '1 day'
    FROM (SELECT note_id FROM notes WHERE member_id IS NULL LIMIT 3) folded`,
  // Most changes that are due with time have already happened, so that jobs have little to do.
  `UPDATE notes SET appeal = 'over', erased_at = now()
    WHERE state = 'rejected' AND hashtext(note_id::text) % 100 <> 0`,
  `UPDATE notes SET tier = 'lead' WHERE state = 'pending' AND hashtext(note_id::text) % 10 <> 0`,
];

/** Fills the database with a history and additional rows, and updates its statistics. */
export async function fill({ database }: Service): Promise<void> {
  const client = await database.pool.connect();
  try {
    await writeHistory(client, { members: 1000, notes: 5 });
    await fillTables(client);
    await fillPrimaryData(client);
    for (const text of MORE) await client.query(text);
    await client.query('ANALYZE');
  } finally {
    client.release();
  }
}

/** Deletes rows that exist only temporarily, or never in some services; updates statistics. */
const PASSING = [
  `DELETE FROM notes WHERE state = 'pending' OR reported_at IS NOT NULL OR appeal = 'open'
    OR state <> 'approved' AND erased_at IS NULL OR parent_id IS NOT NULL OR member_id IS NULL`,
  'DELETE FROM sessions WHERE ended_at IS NULL',
  "DELETE FROM credentials WHERE state = 'active'",
  "DELETE FROM members WHERE state = 'deactivated'",
  'DELETE FROM cases WHERE claimant_id IS NOT NULL',
  'DELETE FROM note_decisions WHERE batch_id IS NOT NULL',
  'DELETE FROM note_reports WHERE member_id IS NOT NULL',
  'DELETE FROM record_reports WHERE told_at IS NULL',
  'DELETE FROM reported_records WHERE reported_at IS NOT NULL',
  'DELETE FROM artifacts WHERE supersedes_id IS NOT NULL',
  'VACUUM ANALYZE',
];

/** Deletes temporary rows from a filled database. */
export async function quieten({ database }: Service): Promise<void> {
  for (const text of PASSING) await database.pool.query(text);
}

/** Gives one member most records of every kind, and updates statistics. */
const SKEWED = [
  `CREATE TEMP TABLE one AS SELECT member_id AS id FROM members WHERE state = 'active' LIMIT 1`,
  ...Object.entries({
    notes: 'member_id',
    artifacts: 'author_id',
    cases: 'author_id',
    credentials: 'member_id',
    note_reports: 'member_id',
    record_reports: 'member_id',
    case_notes: 'member_id',
  }).map(
    ([table, column]) => `UPDATE ${table} SET ${column} = (SELECT id FROM one)
      WHERE ${column} IS NOT NULL AND hashtext(${table}::text) % 10 <> 0`,
  ),
  'VACUUM ANALYZE',
];

/** Gives one member most records of a filled database. */
export async function skew({ database }: Service): Promise<void> {
  const client = await database.pool.connect();
  try {
    for (const text of SKEWED) await client.query(text);
  } finally {
    client.release(true);
  }
}

/** Restores the state of tables that were filled and have not been analysed yet. */
export async function forgetStatistics({ database }: Service): Promise<void> {
  await database.pool.query(`DELETE FROM pg_statistic
    USING pg_class c WHERE starelid = c.oid AND c.relnamespace = 'public'::regnamespace`);
  await database.pool.query(`UPDATE pg_class SET reltuples = -1, relpages = 0, relallvisible = 0
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')`);
}
