import { randomUUID } from 'node:crypto';
import t from 'tap';
import { REPORT_REASONS } from '../../domain/guestbook/words.ts';
import { newAgent } from '../../harness/agent.ts';
import { addModerator } from '../../harness/moderation.ts';
import { notifyRemovals, publishArtifact, report } from '../../harness/records.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { query } from '../../platform/postgres/query.ts';
import { named } from '../../platform/sql.ts';
import { type ArrivalsRow, arrivalsByHour } from '../../projections/moderation/review-stats.ts';
import { blocksOf } from '../support/blocks.ts';
import { testDatabase } from '../support/database.ts';
import { advanceTime } from '../support/passing-time.ts';
import { createRandom } from '../support/random.ts';
import { startService } from '../support/service.ts';

const SUBJECT = '11111111-1111-4111-8111-111111111111';

/** What an arrival is: compares each report with all those before it on its record. */
const COMPARED = `SELECT date_trunc('hour', reported_at, 'UTC') AS hour, count(*)::int AS arrivals
  FROM record_reports r WHERE reported_at >= $1 AND reported_at < $2 AND state <> 'silent'
    AND NOT EXISTS (SELECT FROM record_reports before
      LEFT JOIN record_decisions d ON d.event_id = before.settled_by_event
      WHERE before.subject_type = r.subject_type AND before.subject_id = r.subject_id
        AND (before.reported_at, before.report_id) < (r.reported_at, r.report_id)
        AND before.state NOT IN ('silent', 'withdrawn')
        AND (d.decided_at IS NULL OR d.decided_at > r.reported_at))
  GROUP BY 1`;

const byHour = (rows: readonly ArrivalsRow[]) =>
  rows.map(({ hour, arrivals }) => `${hour.toISOString()} ${arrivals}`).sort();

t.test('counts as arrivals the reports that found no open one, in every period', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const { seed, pick } = createRandom();
  t.comment(`seed ${seed}`);
  const author = await newAgent(service);
  const reporters = await Promise.all(Array.from({ length: 8 }, () => newAgent(service)));
  const moderators = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Lou', 'lead'),
  ];
  const records = await Promise.all(['a', 'b', 'c'].map((title) => publishArtifact(author, title)));
  const undoable: string[] = [];
  const seen = new Map<string, number>();

  const decideOn = (action: object) => async () => {
    const [moderator, record] = [pick(moderators), pick(records)];
    const path = `subjects/artifact/${record.id}`;
    const { item } = (await moderator.get(path)).body;
    const body = { ...action, expected_version: item?.version ?? 0 };
    const answer = await moderator.post(`${path}/decisions`, body);
    if (answer.status === 201)
      undoable.push(`${moderator.id} ${record.id} ${answer.body.event_id}`);
    return answer.status;
  };
  const acts = {
    report: async () =>
      (await report(pick(reporters), pick(records), { reason: pick(REPORT_REASONS) })).status,
    keep: decideOn({ action: 'keep' }),
    remove: decideOn({ action: 'remove', policy: 'spam' }),
    restore: decideOn({ action: 'restore' }),
    undo: async () => {
      const [by, record, event] = (undoable.at(-1) ?? `${randomUUID()} `).split(' ');
      const moderator = moderators.find(({ id }) => id === by);
      if (!moderator) return 404;
      const { item } = (await moderator.get(`subjects/artifact/${record}`)).body;
      const body = { expected_version: item.version };
      return (await moderator.post(`decisions/${event}/undo`, body)).status;
    },
    withdraw: async () => {
      const at = records.indexOf(pick(records));
      const { id } = records[at] as { id: string };
      const { artifact } = (await author.call('GET', `/api/v1/artifacts/${id}`)).body;
      if (!artifact) return 404;
      const body = { expected_version: artifact.version };
      const { status } = await author.call('POST', `/api/v1/artifacts/${id}/withdraw`, body);
      records[at] = await publishArtifact(author, 'Another');
      return status;
    },
  };
  const names = Object.keys(acts) as (keyof typeof acts)[];
  const often = [...names, 'report', 'report', 'report', 'report', 'undo'] as const;
  for (let step = 0; step < 120; step++) {
    if (step % 40 === 39) {
      await advanceTime(service, '11 minutes');
      await notifyRemovals(service);
    }
    const name = pick(often);
    if ((await acts[name]()) < 300) seen.set(name, (seen.get(name) ?? 0) + 1);
  }
  t.comment(JSON.stringify(Object.fromEntries(seen)));

  // Beside the random acts: one record whose reports are open, and one whose reports were settled.
  for (const action of [null, { action: 'keep' }]) {
    const record = await publishArtifact(author, 'The last');
    for (const reporter of reporters.slice(0, 3)) await report(reporter, record);
    records.splice(0, records.length, record);
    if (action) t.equal(await decideOn(action)(), 201);
  }

  const { rows } = await pool.query<{ at: string }>(`SELECT at::text FROM (
      SELECT reported_at AS at FROM record_reports UNION SELECT decided_at FROM record_decisions
      UNION SELECT 'infinity') times ORDER BY times.at`);
  const times = rows.map(({ at }) => at);
  const differ: unknown[] = [];
  for (const [index, from] of times.entries())
    for (const to of new Set([times[index + 1], times[index + 3], pick(times), 'infinity'])) {
      const [compared, found] = await Promise.all([
        query<ArrivalsRow>(pool, named(COMPARED, [from, to])),
        query(pool, { ...arrivalsByHour(new Date(0), new Date(0)), values: [from, to] }),
      ]);
      if (String(byHour(compared)) !== String(byHour(found)))
        differ.push({ from, to, compared: byHour(compared), found: byHour(found) });
    }
  t.same(differ, []);
  t.ok(times.length > 20, `${times.length} times`);
});

t.test('counts many reports on a record without comparing each with all others', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    const [from, to] = [new Date('2026-01-01'), new Date('2026-01-02')];
    const cost = async () =>
      (await blocksOf(client, arrivalsByHour(from, to), 'force_generic_plan')).blocks;
    const reports = (count: number, since: Date) =>
      client.query(
        `INSERT INTO record_reports (report_id, subject_type, subject_id, author_id, member_id, reason,
          state, reported_at, settled_by_event)
        SELECT gen_random_uuid(), 'artifact', $1, $1, gen_random_uuid(), 'spam', 'kept',
          $2::timestamptz + n * interval '1 second', $1 FROM generate_series(1, $3) n`,
        [SUBJECT, since, count],
      );
    await client.query(`INSERT INTO record_decisions (event_id, subject_type, subject_id, author_id,
      decision, decided_at) VALUES ('${SUBJECT}', 'artifact', '${SUBJECT}', '${SUBJECT}', 'kept', '2026-01-02')`);
    await reports(200, from);
    await client.query('VACUUM ANALYZE record_reports');
    const few = await cost();
    await reports(1800, new Date('2026-01-01T12:00Z'));
    await client.query('VACUUM ANALYZE record_reports');
    const many = await cost();
    t.ok(many < 12 * few, `${few} blocks for 200, ${many} for 2,000`);
    await reports(20_000, new Date('2025-01-01'));
    await client.query('VACUUM ANALYZE record_reports');
    const beside = await cost();
    t.ok(beside < 1.2 * many, `${beside} beside 20,000 before the period`);
  });
});
