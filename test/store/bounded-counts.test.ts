import t from 'tap';
import { MAX_COUNTED } from '../../domain/publications/words.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import type { Sql } from '../../platform/sql.ts';
import { listedNotes } from '../../projections/guestbook/notes-on-pages.ts';
import { actsOf } from '../../projections/moderation/audit.ts';
import { queueDepth } from '../../projections/moderation/review-stats.ts';
import { agentCounts } from '../../projections/profiles/profiles.ts';
import { reportsOn } from '../../projections/publications/record-reports.ts';
import { MAX_ACTS } from '../../services/moderation/rewind/rewind.ts';
import { testDatabase } from '../support/database.ts';
import { countRowsRead } from '../support/rows-read.ts';

const MEMBER = '11111111-1111-4111-8111-111111111111';
const NOTE = '22222222-2222-4222-8222-222222222222';
const RECORD = '33333333-3333-4333-8333-333333333333';
const DISMISSAL = '44444444-4444-4444-8444-444444444444';

/** As many rows of each kind, of which the statements below count some. */
const rowsOf = (count: number): string[] => [
  `CREATE TEMP TABLE many AS SELECT n, gen_random_uuid() AS id, gen_random_uuid() AS other,
    now() - interval '2 days' - n * interval '1 second' AS at FROM generate_series(1, ${count}) n`,
  `INSERT INTO profiles (member_id, state, version, published_at, removal_told)
    VALUES ('${MEMBER}', 'published', 1, now(), false)`,
  `INSERT INTO artifacts (artifact_id, author_id, kind, title, content_hash, packet, state, version,
      created_at)
    SELECT id, '${MEMBER}', 'brief', '', '', '{}', 'published', 1, at FROM many`,
  `INSERT INTO cases (case_id, author_id, title, summary, objective, acceptance_criteria, state,
      version, created_at, updated_at)
    SELECT id, '${MEMBER}', '', '', '', '{}', 'open', 1, at, at FROM many`,
  `INSERT INTO case_submissions (submission_id, case_id, member_id, summary, created_at)
    SELECT other, id, '${MEMBER}', '', at FROM many`,
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, state, version,
      submitted_at, approved_at, settled_at)
    VALUES ('${NOTE}', '${NOTE}', NULL, 'service', 'guest', 'approved', 2, now(), now(), now())`,
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, state, version,
      submitted_at, approved_at, settled_at, reported_at)
    SELECT id, '${MEMBER}', '${MEMBER}', 'service', 'member', 'approved', 2, at, at, at, at FROM many`,
  // Of many authors: the planner would take one author of all replies for one who may be leaving.
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, parent_id, state, version,
      submitted_at, approved_at, settled_at)
    SELECT other, id, id, 'service', 'member', '${NOTE}', 'approved', 2, at, at, at FROM many`,
  `INSERT INTO notes (note_id, owner_id, experience, attribution, name, message, state, version, tier,
      submitted_at)
    SELECT gen_random_uuid(), other, 'service', 'guest', 'Ada', 'Hello', 'pending', 1,
      CASE n % 2 WHEN 0 THEN 'lead' ELSE 'normal' END, at FROM many`,
  `INSERT INTO record_decisions (event_id, subject_type, subject_id, author_id, decision, decided_at)
    VALUES ('${DISMISSAL}', 'artifact', '${RECORD}', '${MEMBER}', 'kept', now())`,
  `INSERT INTO record_reports (report_id, subject_type, subject_id, author_id, member_id, reason, state,
      reported_at, settled_by_event, told_at)
    SELECT id, 'artifact', '${RECORD}', '${MEMBER}', other, 'spam',
      CASE n % 2 WHEN 0 THEN 'kept' ELSE 'removed' END, at,
      CASE n % 2 WHEN 0 THEN '${DISMISSAL}'::uuid ELSE other END, at FROM many`,
  `INSERT INTO reported_records (subject_type, subject_id, author_id, reported_at, version)
    SELECT 'artifact', id, '${MEMBER}', at, 1 FROM many`,
];

const READS: Readonly<Record<string, [Sql, string[], object]>> = {
  'the records of a member': [
    agentCounts(MEMBER),
    ['uuid'],
    { artifacts: MAX_COUNTED, cases_opened: MAX_COUNTED, cases_accepted: 0, notes: MAX_COUNTED },
  ],
  'the replies to a note': [
    listedNotes([NOTE]),
    ['uuid[]'],
    { note_id: NOTE, replies: MAX_COUNTED },
  ],
  'the depth of the queue': [
    queueDepth(MAX_COUNTED + 1),
    ['bigint'],
    { pending: MAX_COUNTED + 1, past_due: MAX_COUNTED + 1, reported: 2 * (MAX_COUNTED + 1) },
  ],
  'the dismissed reasons of a record': [
    reportsOn('artifact', RECORD),
    [],
    { version: 0, dismissed: ['spam'] },
  ],
};

t.test('counts no further than its limit, however many rows there are', async (t) => {
  const costs: Record<string, number>[] = [];
  for (const count of [1500, 6000]) {
    const { url } = await testDatabase(t);
    await withConnection(url, async (client) => {
      for (const text of rowsOf(count)) await client.query(text);
      await client.query('VACUUM ANALYZE');
      await client.query(BY_INDEX);
      const cost: Record<string, number> = {};
      for (const [name, [read, types, expected]] of Object.entries(READS)) {
        const { rows } = await client.query({ text: read.text, values: read.values });
        t.match(rows[0], expected, name);
        cost[name] = await countRowsRead(client, literal(read), types);
      }
      costs.push(cost);
      await client.query(`UPDATE profiles SET state = 'withdrawn'`);
      const counts = literal(agentCounts(MEMBER));
      t.equal(await countRowsRead(client, counts, ['uuid']), 1, 'the profile, which is not public');
    });
  }
  t.same(costs[1], costs[0]);
});

t.test(
  'reads the acts of one moderator for a rewind, and none of the rest of the log',
  async (t) => {
    const ROB = '55555555-5555-4555-8555-555555555555';
    const actsBy = (actor: string, count: number) => `INSERT INTO events
      (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
    SELECT id, 'note-' || id, 2, gen_random_uuid(), 'NoteApproved', '{}',
      jsonb_build_object('type', 'moderator', 'id', ${actor}), now()
    FROM generate_series(1, ${count}) n, LATERAL (SELECT gen_random_uuid() AS id WHERE n > 0) ids`;
    const { url } = await testDatabase(t);
    await withConnection(url, async (client) => {
      await client.query(actsBy(`'${ROB}'`, 5));
      // One colleague has most of the log, and many others the rest.
      await client.query(actsBy(`'${MEMBER}'`, 4000));
      await client.query(actsBy('gen_random_uuid()', 4000));
      await client.query(BY_INDEX);
      for (const analyzed of [false, true]) {
        if (analyzed) await client.query('VACUUM ANALYZE');
        const acts = actsOf(ROB, Number.MAX_SAFE_INTEGER, MAX_ACTS);
        t.equal(await countRowsRead(client, acts), 5, analyzed ? 'with statistics' : 'without');
      }
    });
  },
);

/** The statement with its lists in the form of a literal. */
const literal = (read: Sql): Sql => ({
  ...read,
  values: read.values.map((value) => (Array.isArray(value) ? `{${value.join(',')}}` : value)),
});
