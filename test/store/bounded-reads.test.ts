import t from 'tap';
import { memberOwner } from '../../domain/owners.ts';
import {
  defineFactsOfStreamsSinceReset,
  defineFactsSinceReset,
} from '../../platform/eventstore/append.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import type { Sql } from '../../platform/sql.ts';
import { casesHeld } from '../../projections/cases/case-members.ts';
import { casesOfClaimant, casesOfParticipant, publicCases } from '../../projections/cases/cases.ts';
import { overdueCredentials } from '../../projections/credentials/credentials.ts';
import { erasedNotes } from '../../projections/guestbook/notes-of-member.ts';
import { auditPage } from '../../projections/moderation/audit.ts';
import { reportedCaseNotesOf } from '../../projections/publications/record-reports.ts';
import { filledReceipts } from '../../services/account/receipts.ts';
import { overdueSessions } from '../../services/membership/sessions.ts';
import { actsOnCases } from '../../services/seal/tree-store.ts';
import { blocksOf } from '../support/blocks.ts';
import { testDatabase } from '../support/database.ts';

const ONE = '11111111-1111-4111-8111-111111111111';
/** A member who took part in many cases, and claimed many that moderators removed. */
const BUSY = '22222222-2222-4222-8222-222222222222';
const NEARLY_LAST = 'ffffffff-ffff-4fff-8fff-000000000000';
const LAST = 'ffffffff-ffff-4fff-8fff-ffffffffffff';

/** Rows of which each read below finds one or none, or a page among the oldest. */
const ROWS = [
  `CREATE TEMP TABLE many AS SELECT n, gen_random_uuid() AS id,
    now() - n * interval '1 second' AS at FROM generate_series(1, 20000) n`,
  `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
    SELECT id, 'note-' || id, 2, gen_random_uuid(), 'NoteRejected',
      '{"policy": "spam"}', jsonb_build_object('type', 'moderator', 'id', gen_random_uuid()), at
    FROM many ORDER BY n`,
  `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
    SELECT id, stream, 9, gen_random_uuid(), 'NoteRejected', '{"policy": "rare"}',
      '{"type": "moderator", "id": "${ONE}"}', at
    FROM many, (VALUES ('note-${ONE}'), ('policy-rare')) streams (stream) WHERE n = 1`,
  `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
    SELECT '${ONE}', 'case-${ONE}', n, gen_random_uuid(),
      CASE n % 2 WHEN 1 THEN 'CaseOpened' ELSE 'CaseReviewed' END, '{}', '{"type": "service"}', at
    FROM many`,
  // Everyone has reviewed the case of LAST, one of them BUSY.
  `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
    SELECT '${LAST}', 'case-${LAST}', n, gen_random_uuid(), 'CaseReviewed', '{}',
      jsonb_build_object('type', 'member', 'id', CASE n WHEN 10000 THEN '${BUSY}' ELSE id END), at
    FROM many`,
  `INSERT INTO cases (case_id, author_id, title, summary, objective, acceptance_criteria, state,
      version, created_at, updated_at)
    SELECT id, id, '', '', '', '{}', CASE n WHEN 20000 THEN 'submitted' ELSE 'open' END, 1, at, at
    FROM many`,
  `INSERT INTO members (member_id, handle, state, key_epoch, registered_at)
    SELECT id, 'many_' || n, 'active', 1, at FROM many`,
  `INSERT INTO sessions (session_id, member_id, key_id, hash, started_at, expires_at, key_epoch)
    SELECT id, id, 1, md5('') || md5(''), at, now() + interval '1 day', 1 FROM many`,
  `INSERT INTO credentials (credential_id, member_id, scopes, state, created_at, expires_at, key_epoch)
    SELECT id, id, '{}', 'active', at, now() + interval '1 day', 1 FROM many`,
  `INSERT INTO cases (case_id, author_id, claimant_id, state, version, created_at, updated_at, removed)
    SELECT gen_random_uuid(), id, '${BUSY}', 'submitted', 1, at, at, n < 20000 FROM many`,
  `INSERT INTO case_members (case_id, member_id, took_part_at)
    SELECT id, unnest(ARRAY[id, '${BUSY}']::uuid[]), at FROM many`,
  // The account of ONE is closed, and a worker has ended and erased all but one of its records.
  `INSERT INTO cases (case_id, author_id, state, version, created_at, updated_at, author_gone)
    SELECT gen_random_uuid(), '${ONE}', 'withdrawn', 1, at, at, n < 20000 FROM many`,
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, state, version,
      submitted_at, erased_at)
    SELECT gen_random_uuid(), '${ONE}', '${ONE}', 'service', 'member', 'withdrawn', 1, at, at FROM many`,
  `INSERT INTO receipts (owner_id, space, key, operation, route, body_hash, http_status, event_ids,
      recorded_at)
    SELECT '${ONE}', 'api', CASE n WHEN 20000 THEN '${LAST}' ELSE id END, '', '',
      CASE n WHEN 20000 THEN 'h' ELSE '' END, 200, '{}', at FROM many`,
  `INSERT INTO reported_records (subject_type, subject_id, author_id, reported_at, version)
    SELECT CASE n WHEN 20000 THEN 'case_note' ELSE 'artifact' END, id, '${ONE}', at, 1 FROM many`,
  `INSERT INTO reported_records (subject_type, subject_id, author_id, reported_at, version)
    SELECT 'case_note', gen_random_uuid(), id, at, 1 FROM many`,
  'VACUUM ANALYZE',
];

const AUDIT = 'DROP INDEX events_audit_of_';
const LOG = 'ALTER TABLE events DROP CONSTRAINT events_pkey';

/** Reads, each with the statement that drops the index by which it is bounded. */
const READS: Readonly<Record<string, [Sql, string]>> = {
  'the audit of a subject': [auditPage('newest', 0, 1e9, 21, { subject: ONE }), `${AUDIT}subject`],
  'the audit of a policy as a subject': [
    auditPage('newest', 0, 1e9, 21, { subject: 'rare' }),
    `${AUDIT}subject`,
  ],
  'the audit by a policy': [auditPage('newest', 0, 1e9, 21, { policy: 'rare' }), `${AUDIT}policy`],
  'the audit by a policy without entries': [
    auditPage('newest', 0, 1e9, 21, { policy: 'none' }),
    `${AUDIT}policy`,
  ],
  'the audit of a moderator': [
    auditPage('oldest', 0, 1e9, 21, { moderatorId: ONE }),
    `${AUDIT}moderator`,
  ],
  'the events that decide a command on a case': [
    defineFactsSinceReset(['CaseOpened', 'CaseClaimed'])(memberOwner(ONE), `case-${ONE}`),
    LOG,
  ],
  'the events that decide how a case ends with an account': [
    defineFactsOfStreamsSinceReset(['CaseOpened', 'CaseClaimed'])(memberOwner(ONE), [
      `case-${ONE}`,
    ]),
    LOG,
  ],
  'the cases in a rare state': [
    publicCases({ state: 'submitted' }, 21),
    'DROP INDEX cases_by_state',
  ],
  'the cases that a member has claimed': [casesOfClaimant(BUSY, 5), 'DROP INDEX cases_of_claimant'],
  'what a member did with cases of others': [
    actsOnCases(1, BUSY, 0, 1e9, 21),
    'DROP INDEX events_on_cases',
  ],
  'the cases in which a member took part': [
    casesOfParticipant(BUSY, 5),
    'DROP INDEX case_members_of_member',
  ],
  'the cases left to end with an account': [casesHeld.cases(ONE, 200), 'DROP INDEX cases_to_end'],
  'the members who hear of them': [casesHeld.concerned(ONE, 200), 'DROP INDEX cases_to_end'],
  'the reported case notes left to end with an account': [
    reportedCaseNotesOf(ONE, 200),
    'DROP INDEX reported_records_to_end',
  ],
  'the last erased notes of a member': [
    erasedNotes(ONE, { at: 'now', note_id: ONE }, 5),
    'DROP INDEX notes_of_member',
  ],
  'the last receipts to empty': [
    filledReceipts(ONE, { space: 'api', key: NEARLY_LAST }, 5),
    'ALTER TABLE receipts DROP CONSTRAINT receipts_pkey',
  ],
  'the sessions to expire': [overdueSessions(500), 'DROP INDEX sessions_expiry'],
  'the credentials to expire': [overdueCredentials(500), 'DROP INDEX credentials_expiry'],
};

/** More than a read of a page by an index, and less than one of the rows above. */
const MOST_BLOCKS = 40;

t.test('reads no more than it returns, however many other rows there are', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    for (const text of ROWS) await client.query(text);
    await client.query(BY_INDEX);
    for (const mode of ['force_generic_plan', 'force_custom_plan'])
      for (const [name, [read, drop]] of Object.entries(READS)) {
        const { blocks } = await blocksOf(client, read, mode);
        t.ok(blocks < MOST_BLOCKS, `${name}: ${blocks} blocks, ${mode}`);
        await client.query(`BEGIN; ${drop}`);
        const { blocks: without } = await blocksOf(client, read, mode);
        t.ok(without > MOST_BLOCKS, `${name}: ${without} blocks without its index, ${mode}`);
        await client.query('ROLLBACK');
      }
  });
});
