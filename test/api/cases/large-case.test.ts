import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import { mergeBatches } from '../../../platform/postgres/batch-statements.ts';
import { MIGRATIONS } from '../../../platform/postgres/migrate.ts';
import { toQuery } from '../../../platform/postgres/pipeline.ts';
import { rebuild } from '../../../projections/rebuild/rebuild.ts';
import { catalogue, project, projections } from '../../../services/features.ts';
import { type Service, startService } from '../../support/service.ts';
import { longestBatches } from '../../support/statements.ts';

/** Creates members with SQL, without credentials; each took part in the case at another time. */
async function addParticipants({ tamper }: Service, caseId: string, count: number) {
  await tamper(`CREATE TABLE added AS
    SELECT gen_random_uuid() AS id, n FROM generate_series(1, ${count}) n`);
  await tamper(`INSERT INTO members (member_id, handle, state, key_epoch, registered_at)
    SELECT id, 'added_' || n, 'active', 1, now() FROM added`);
  await tamper(`INSERT INTO feed_heads (member_id, sequence) SELECT id, 0 FROM added`);
  await tamper(
    `INSERT INTO case_members (case_id, member_id, took_part_at)
     SELECT $1, id, now() - n * interval '1 day' FROM added`,
    [caseId],
  );
}

t.test('a command on a case concerns the 200 members who took part in it last', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const [author, claimant, guest] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ] as const;
  const id = await createOpenCase(author);
  await claimant.claim(id, 1);
  await addParticipants(service, id, 400);
  // The author and the claimant took part before all others.
  await service.tamper(
    `UPDATE case_members SET took_part_at = '2020-01-01' WHERE member_id NOT IN (SELECT id FROM added)`,
  );
  t.equal((await guest.note(id)).status, 201);
  const { rows } = await pool.query(
    `SELECT array_agg(n ORDER BY n) FILTER (WHERE n IS NOT NULL) AS added,
       array_agg(member_id) FILTER (WHERE n IS NULL) AS others
     FROM feed LEFT JOIN added ON id = member_id WHERE type = 'case.noted'`,
  );
  t.same(
    rows[0].added,
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
  t.same(new Set(rows[0].others), new Set([author, claimant, guest].map(({ agent }) => agent.id)));
  // The guest has taken part last now, so one of the others is no longer concerned.
  await guest.note(id);
  const { rows: events } = await pool.query(
    `SELECT jsonb_array_length(data->'members')::int AS count FROM events
     WHERE type = 'CaseNoted' ORDER BY position`,
  );
  t.same(events, [{ count: 203 }, { count: 202 }]);
});

t.test('numbers the entries of many members without comparing each with each', async (t) => {
  const service = await startService(t);
  const author = createCaseCommands(await newAgent(service));
  const id = await createOpenCase(author);
  await addParticipants(service, id, 800);
  const { pool } = service.database;
  const { rows: added } = await pool.query(`SELECT id FROM added`);
  await author.note(id);
  const { rows } = await pool.query(`SELECT * FROM events WHERE type = 'CaseNoted'`);
  const [noted] = rows.map((row) => catalogue.read(row));
  const event = {
    ...noted,
    data: { ...(noted?.data as object), members: added.map((row) => row.id) },
  };
  const insert = mergeBatches(project([event as never])).find(({ text }) =>
    /INTO feed /.test(text),
  );
  const client = await pool.connect();
  await client.query(`BEGIN; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
    SET LOCAL enable_seqscan = off`);
  const { text, values } = toQuery(insert as never);
  const { rows: lines } = await client.query(`EXPLAIN (ANALYZE, TIMING OFF) ${text}`, values);
  await client.query('ROLLBACK');
  client.release();
  const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
  t.match(plan, /Nested Loop.*rows=800/);
  t.notMatch(plan, /Rows Removed by Join Filter/);
});

t.test('rebuilds events of an earlier release that name all who took part', async (t) => {
  const service = await startService(t);
  const author = createCaseCommands(await newAgent(service));
  const id = await createOpenCase(author);
  await author.note(id);
  await addParticipants(service, id, 1000);
  const { pool, url } = service.database;
  await pool.query(`INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data,
      personal, actor, recorded_at)
    SELECT id, 'member-' || id, 1, gen_random_uuid(), 'MemberRegistered',
      (SELECT data || jsonb_build_object('handle_hash', md5(id::text) || md5(''))
        FROM events WHERE type = 'MemberRegistered' LIMIT 1),
      jsonb_build_object('handle', 'added_' || n), jsonb_build_object('type', 'member', 'id', id),
      now() FROM added`);
  await pool.query(`INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data,
      personal, actor, recorded_at)
    SELECT e.owner_id, 'case-note-' || note.id, 1, gen_random_uuid(), e.type,
      e.data || jsonb_build_object('note_id', note.id, 'members', (SELECT jsonb_agg(id) FROM added)),
      e.personal, e.actor, e.recorded_at
    FROM events e, (SELECT gen_random_uuid() AS id FROM generate_series(1, 50)) note
    WHERE e.type = 'CaseNoted'`);
  const longest = longestBatches(t);
  await rebuild(url, catalogue, projections);
  const { rows } = await pool.query(`SELECT count(*)::int FROM feed WHERE type = 'case.noted'`);
  t.equal(rows[0].count, 50 * 1000 + 1);
  // A statement takes 20,000 rows, and those of the event that reaches this number.
  t.ok(longest() <= 21_000, `${longest()} rows in one statement`);
});

t.test('records when members took part in cases of an earlier release', async (t) => {
  const service = await startService(t);
  const [author, guest] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ] as const;
  const id = await createOpenCase(author);
  await guest.claim(id, 1);
  await guest.note(id);
  await guest.submit(id, 2);
  const parts = (pool: Service['database']['pool']) =>
    pool.query('SELECT * FROM case_members ORDER BY member_id').then(({ rows }) => rows);
  const { pool } = service.database;
  const now = await parts(pool);
  await pool.query('ALTER TABLE case_members DROP COLUMN took_part_at');
  await pool.query(readFileSync(join(MIGRATIONS, '0002-case-members.sql'), 'utf8'));
  t.same(await parts(pool), now);
});
