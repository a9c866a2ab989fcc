import pg from 'pg';
import t from 'tap';
import { operationsOf } from '../services/http/invoke.ts';
import { JOBS } from '../workers/jobs.ts';
import { writeHistory } from './harness/history.ts';
import { fillPrimaryData, fillTables } from './harness/history-tables.ts';
import { hire } from './harness/moderation.ts';
import { type Service, startService } from './harness/service.ts';
import { recordStatements, type Statement } from './harness/statements.ts';
import { openTraffic } from './harness/traffic.ts';

/** Tables that do not grow with use, and why. */
const SMALL: Readonly<Record<string, string>> = {
  moderators: 'a service has a few',
  policies: 'a service has a few',
  membership_totals: 'one row',
  note_leases: 'ten of each moderator at most, dropped when they end',
};

/** Statements that read more than an index finds, and why they may. */
const WHOLE: readonly { part: string; why: string }[] = [
  { part: 'pgboss.', why: 'pg-boss has its own plans' },
];

/** Rows that ask storage for nothing, or for what another row asks as well. */
const SILENT =
  /^(GET \/(openapi|for-agents|policy|llms|robots|sitemap|docs|livez|readyz|\.well-known|moderation|$)|GET \/api\/moderation\/stream)/;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
}

const scans = (plan: Plan): string[] => [
  ...(plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? '?'] : []),
  ...(plan.Plans ?? []).flatMap(scans),
];

const plannable = ({ text }: Statement) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text);

/** What a statement scans whole, planned for these values and for any. */
async function wholeScans(client: pg.Client, { text, values }: Statement): Promise<string[]> {
  const found: string[] = [];
  const plans = [
    { text: `EXPLAIN (FORMAT JSON) ${text}`, values },
    { text: `EXPLAIN (FORMAT JSON, GENERIC_PLAN) ${text}`, values: [] },
  ];
  for (const statement of plans) {
    const { rows } = await client.query(statement);
    found.push(...scans(rows[0]['QUERY PLAN'][0].Plan));
  }
  return [...new Set(found)].filter((table) => !(table in SMALL));
}

/** A database that has seen some use, and statistics of it. */
async function fill({ database }: Service): Promise<void> {
  const client = await database.pool.connect();
  try {
    await writeHistory(client, { members: 3000, notes: 8 });
    await fillTables(client);
    await fillPrimaryData(client);
    await client.query('ANALYZE');
  } finally {
    client.release();
  }
}

t.test('no statement of a request or a job reads a growing table from end to end', async (t) => {
  const service = await startService(t, {
    UNDO_WINDOW_SECONDS: '0',
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

  const client = new pg.Client(service.database.url);
  await client.connect();
  const planned = [...statements.values()].filter(plannable);
  t.ok(planned.length > 150, `${planned.length} statements`);
  try {
    for (const statement of planned) {
      if (WHOLE.some(({ part }) => statement.text.includes(part))) continue;
      const found = await wholeScans(client, statement);
      t.same(found, [], statement.text.replaceAll(/\s+/g, ' ').slice(0, 150));
    }
  } finally {
    await client.end();
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
