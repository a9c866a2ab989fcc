import pg from 'pg';
import t from 'tap';
import { gatherReads } from '../services/eventstore/reads.ts';
import type { Sql } from '../services/eventstore/sql.ts';
import { operationsOf } from '../services/http/invoke.ts';
import { BY_INDEX } from '../services/postgres.ts';
import { JOBS } from '../workers/jobs.ts';
import { testDatabase } from './harness/database.ts';
import { writeHistory } from './harness/history.ts';
import { fillPrimaryData, fillTables } from './harness/history-tables.ts';
import { hire } from './harness/moderation.ts';
import { type Service, startService } from './harness/service.ts';
import { recordStatements } from './harness/statements.ts';
import { openTraffic } from './harness/traffic.ts';

/** Tables that do not grow with use, and why. */
const SMALL: Readonly<Record<string, string>> = {
  moderators: 'a service has a few',
  policies: 'a service has a few',
  membership_totals: 'one row',
  schema_migrations: 'one row a migration',
  note_leases: 'ten of each moderator at most, dropped when they end',
};

/** Statements that read more than an index finds, and why they may. */
const WHOLE: readonly { part: string; why: string }[] = [
  { part: 'pgboss.', why: 'pg-boss has its own plans' },
  { part: 'FROM note_decisions d JOIN notes n USING', why: 'statistics: all decided in a period' },
  { part: 'AS arrivals FROM (', why: 'statistics: all that came in a period' },
  { part: "LATERAL (SELECT DISTINCT found->>'code'", why: 'statistics: all decided in a period' },
];

/** Rows that ask storage for nothing, or for what another row asks as well. */
const SILENT =
  /^(GET \/(openapi|for-agents|policy|llms|robots|sitemap|docs|livez|readyz|\.well-known|moderation|assets|$)|GET \/api\/moderation\/stream)/;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
}

/** Tables that are read whole: in their own order, or in that of their keys but for the first rows. */
function scans(plan: Plan, limited = false): string[] {
  const { 'Node Type': type, 'Relation Name': table = '?', 'Index Name': index = '' } = plan;
  const all = /Index( Only)? Scan$/.test(type) && !plan['Index Cond'] && !limited;
  const [, keyed] = (all && /^(.*)_pkey$/.exec(index)) || [];
  const whole = type === 'Seq Scan' ? table : keyed;
  const within = limited || type === 'Limit';
  return [...(whole ? [whole] : []), ...(plan.Plans ?? []).flatMap((one) => scans(one, within))];
}

const plannable = ({ text }: Sql) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text);

/** What a statement scans whole, planned as its connection plans it: prepared ones for any values. */
async function wholeScans(client: pg.Client, statement: Sql): Promise<string[]> {
  const { name, text, values } = statement;
  const [how, given] = name ? [', GENERIC_PLAN', []] : ['', values];
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON${how}) ${text}`, given);
  const plan: Plan = rows[0]['QUERY PLAN'][0].Plan;
  return [...new Set(scans(plan))].filter((table) => !(table in SMALL));
}

/** What stands beside a history: rows of no story, so many that reading them all would be dear. */
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
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, name, message, state,
      version, submitted_at, approved_at, settled_at)
    SELECT b, a, a, 'service', 'member', '', 'More of it', 'approved', 2, at, at, at FROM more`,
  `INSERT INTO note_screenings (note_id, rules_version, band, findings, screened_at)
    SELECT b, 1, 'clear', '[]', at FROM more`,
  `INSERT INTO note_decisions (event_id, note_id, decision, decided_at)
    SELECT c, b, 'approved', at FROM more`,
  `INSERT INTO note_reports (report_id, note_id, member_id, reason, state, reported_at)
    SELECT c, b, a, 'spam', 'kept', at FROM more`,
  `INSERT INTO note_appeals (appeal_id, note_id, member_id, of, text, state, opened_at)
    SELECT c, b, a, c, 'Why?', 'upheld', at FROM more`,
  `INSERT INTO report_addresses (note_id, bucket, reported_at) SELECT b, 'more', at FROM more`,
  `INSERT INTO rate_counters (kind, bucket, window_start, count)
    SELECT 'key', b::text, at, 1 FROM more`,
  `INSERT INTO artifacts (artifact_id, author_id, kind, title, content_hash, packet, state, version,
      created_at)
    SELECT b, a, 'brief', 'More', md5('') || md5(''), '{}', 'published', 1, at FROM more`,
  `INSERT INTO record_reports (report_id, subject_type, subject_id, author_id, member_id, reason,
      state, reported_at, told_at)
    SELECT c, 'artifact', b, a, a, 'spam', 'kept', at, at FROM more`,
  `INSERT INTO reported_records (subject_type, subject_id, author_id, version)
    SELECT 'artifact', b, a, 1 FROM more`,
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
  // Most of what time brings has come already, so that the jobs have little to do.
  `UPDATE notes SET appeal = 'over', erased_at = now()
    WHERE state = 'rejected' AND hashtext(note_id::text) % 100 <> 0`,
  `UPDATE notes SET tier = 'lead' WHERE state = 'pending' AND hashtext(note_id::text) % 10 <> 0`,
];

/** A database that has seen some use, and statistics of it. */
async function fill({ database }: Service): Promise<void> {
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

t.test('no statement of a request or a job reads a growing table from end to end', async (t) => {
  const service = await startService(t, {
    LIMIT_WRITES_PER_DAY: '100000',
    LIMIT_BOOTSTRAP_ATTEMPTS: '100000',
    LIMIT_REGISTRATIONS_PER_DAY: '100000',
    LIMIT_MEMBERS: '100000',
  });
  // The history is not this service's own, and a rebuild of it would tell nothing new.
  await service.tamper('SELECT 1');
  await fill(service);
  const statements = recordStatements(t);
  const moderator = await hire(service, 'Ann');
  const operations = await openTraffic(service, {
    moderator,
    lead: await hire(service, 'Lea', 'lead'),
  });
  for (const { name, prepare } of operations) {
    const answer = await (await prepare())();
    t.ok(
      answer.status < 300,
      `${name}: ${answer.status} ${answer.status < 300 ? '' : answer.text}`,
    );
  }
  await runJobs(service);

  const alone = [...statements.values()].filter(plannable);
  // What commands read at once is planned for all of them.
  const together = alone.flatMap((read) => {
    const { statements } = gatherReads([[read], [read]]);
    return statements.length === 1 ? statements : [];
  });
  t.ok(together.length > 20, `${together.length} reads of several commands`);
  const planned = [...alone, ...together];
  t.ok(planned.length > 150, `${planned.length} statements`);
  const prepared = planned.filter(({ name }) => name !== '').length;
  t.ok(prepared > 150, `${prepared} of them prepared`);
  // On an empty database too: what is planned there outlives the time when its tables are small.
  const { url } = await testDatabase(t);
  for (const [state, database] of Object.entries({ filled: service.database.url, empty: url })) {
    const client = new pg.Client(database);
    await client.connect();
    await client.query(BY_INDEX);
    try {
      for (const statement of planned) {
        const text = statement.text.replaceAll(/\s+/g, ' ');
        if (WHOLE.some(({ part }) => text.includes(part))) continue;
        const found = await wholeScans(client, statement);
        t.same(found, [], `${state}: ${text.slice(0, 150)}`);
      }
    } finally {
      await client.end();
    }
  }

  const called = new Set(
    service.logged.map((line) => JSON.parse(line)).map(({ method, route }) => `${method} ${route}`),
  );
  const missing = [...operationsOf(service.features).values()]
    .map(({ route }) => `${route.method} ${route.path}`)
    .filter((row) => !called.has(row) && !SILENT.test(row));
  t.same(missing, [], 'every row of the route table was called');
});

/** Each job as a worker runs it; those that a command enqueued with what it gave them. */
async function runJobs({ core, database }: Service): Promise<void> {
  const { rows } = await database.pool.query<{ name: keyof typeof JOBS; data: object }>(
    `SELECT DISTINCT ON (name) name, data FROM pgboss.job WHERE data IS NOT NULL ORDER BY name`,
  );
  const given = new Map(rows.map(({ name, data }) => [name, data]));
  for (const [name, { schema, every, run }] of Object.entries(JOBS)) {
    const data = given.get(name as keyof typeof JOBS) ?? (every ? {} : undefined);
    if (data) await run(core, schema.parse(data));
  }
}
