import t from 'tap';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { createReport } from '../../services/operate/create-report.ts';
import type { Report } from '../../services/operate/report.ts';
import {
  access,
  deadLettersByQueue,
  erasures,
  largestStream,
  MAX_COUNTED_JOBS,
  MAX_COUNTED_ROWS,
  MAX_COUNTERS,
  nearLimits,
  queues,
} from '../../services/operate/statements.ts';
import { LATE_STATEMENT, READ_MODELS, untilInTime } from '../support/operate.ts';
import { countRowsRead } from '../support/rows-read.ts';
import { type Service, startService, untilWindowLasts } from '../support/service.ts';
import { recordStatements } from '../support/statements.ts';

const reportOf = ({ core, logger }: Service, options = { keptMs: 0 }) =>
  createReport({ ...core, process: 'web', readModels: READ_MODELS }, logger, options);

const unreadIn = ({ sections }: Report) =>
  Object.fromEntries(
    sections.flatMap(({ name, unread }) => (unread === undefined ? [] : [[name, unread]])),
  );

t.test('reads every section, with the privileges of the processes', async (t) => {
  const service = await startService(t, { SEAL_KEY: '5a'.repeat(32) });
  const report = await untilInTime(reportOf(service));
  t.same(unreadIn(report), {});
  t.equal(report.sections.length, 12);
});

t.test('reads a bounded number of rows, however many there are', async (t) => {
  const service = await startService(t);
  await service.tamper(`INSERT INTO pgboss.job (name, data, start_after, state, completed_on)
    SELECT name, '{}', now() - n * interval '1 second', state::pgboss.job_state,
      CASE state WHEN 'completed' THEN now() END
    FROM generate_series(1, 46000) n, (VALUES ('screen-note', 'created'), ('tell-author', 'retry'),
      ('dead-letters', 'created'), ('screen-note', 'completed')) of (name, state)`);
  await service.tamper(`INSERT INTO sessions (session_id, member_id, key_epoch, key_id, hash, started_at, expires_at)
    SELECT gen_random_uuid(), gen_random_uuid(), 1, 1, '', now(), now() + interval '1 day'
    FROM generate_series(1, 30000)`);
  await service.tamper(`INSERT INTO credentials (credential_id, member_id, scopes, state, created_at, expires_at, key_epoch)
    SELECT gen_random_uuid(), gen_random_uuid(), '{}', 'active', now(), now() + interval '1 day', 1
    FROM generate_series(1, 30000)`);
  await service.tamper(`INSERT INTO members (member_id, state, key_epoch, registered_at, deactivated_at, ending)
    SELECT gen_random_uuid(), 'deactivated', 1, now(), now(), 'erase' FROM generate_series(1, 30000)`);
  await untilWindowLasts(service.database.pool);
  await service.tamper(`INSERT INTO rate_counters (kind, bucket, window_start, count)
    SELECT 'keys', gen_random_uuid()::text, date_bin('10 minutes', now(), 'epoch'), 20
    FROM generate_series(1, 30000)`);
  const statements = [
    // Jobs that are due in two queues, and the oldest of each queue; the log in the last row.
    { statement: queues(), most: 2 * MAX_COUNTED_JOBS + 100, types: ['int', 'text'] },
    { statement: deadLettersByQueue(), most: MAX_COUNTED_JOBS + 1, types: ['int', 'text'] },
    { statement: access(), most: 2 * MAX_COUNTED_ROWS + 10, types: [] },
    { statement: erasures(90, 7), most: 2 * MAX_COUNTED_JOBS + 10, types: [] },
    { statement: largestStream(1), most: 10, types: [] },
  ];
  await withConnection(service.database.url, async (client) => {
    await client.query(BY_INDEX);
    for (const state of ['never analysed', 'analysed']) {
      if (state === 'analysed') await client.query('ANALYZE');
      for (const { statement, most, types } of statements) {
        const read = await countRowsRead(client, statement, types);
        t.ok(read <= most, `${state}: ${read} rows of ${statement.text.slice(0, 60)}`);
      }
    }
    const { rows } = await client.query(
      nearLimits([{ kind: 'keys', window: '10 minutes', limit: 20 }]),
    );
    t.match(rows, [{ kind: 'keys', near: 0, used_up: MAX_COUNTERS }]);
  });
  const started = process.hrtime.bigint();
  const report = await untilInTime(reportOf(service));
  t.comment(`${Number(process.hrtime.bigint() - started) / 1e6} ms`);
  t.same(unreadIn(report), {});
  const facts = report.sections.flatMap(({ facts = [] }) => facts);
  const figure = (name: string) => facts.find(([one]) => one === name)?.[2];
  t.same(figure('dead_letters'), { count: MAX_COUNTED_JOBS, more: true });
  t.same(figure('sessions'), { count: MAX_COUNTED_ROWS, more: true });
  t.same(figure('ending'), { count: MAX_COUNTED_JOBS, more: true });
});

t.test('makes one report for all who ask, and keeps it', async (t) => {
  const service = await startService(t);
  const statements = recordStatements(t);
  const report = reportOf(service, { keptMs: 60_000 });
  const all = await Promise.all(Array.from({ length: 50 }, () => report()));
  t.equal(new Set([...all, await report()]).size, 1);
  t.equal(statements.get(queues().text)?.times, 1);
});

t.test(
  'leaves out a section whose statement is slow or not allowed, and reads the others',
  async (t) => {
    const service = await startService(t);
    const report = reportOf(service);
    const slow = await withConnection(service.database.url, async (client) => {
      await client.query('BEGIN; LOCK TABLE server_keys IN ACCESS EXCLUSIVE MODE');
      return untilInTime(report, LATE_STATEMENT);
    });
    t.same(unreadIn(slow), { keys: LATE_STATEMENT });
    t.same(unreadIn(await untilInTime(report)), {});
    await service.tamper('ALTER TABLE server_keys RENAME TO keys_of_the_server');
    t.same(unreadIn(await untilInTime(report)), { keys: 'The schema is that of another release.' });
  },
);
