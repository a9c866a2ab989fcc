import type pg from 'pg';
import t from 'tap';
import { readsByKey } from '../../platform/batch-statements.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import type { Sql } from '../../platform/sql.ts';
import { testDatabase } from '../support/database.ts';
import { fill, quieten } from '../support/lived-in.ts';
import { recordRun } from '../support/recorded-run.ts';

/** Tables that do not grow with use, and why. */
const SMALL: Readonly<Record<string, string>> = {
  moderators: 'a service has a few',
  policies: 'a service has a few',
  membership_totals: 'one row',
  schema_migrations: 'one row a migration',
  note_leases: 'ten of each moderator at most, dropped when they end',
};

/** Statements that may read more than an index finds, and why. */
const WHOLE: readonly { part: string; why: string }[] = [
  { part: 'pgboss.', why: 'pg-boss has its own plans' },
  { part: 'FROM note_decisions d JOIN notes n USING', why: 'statistics: all decided in a period' },
  { part: 'AS arrivals FROM (', why: 'statistics: all that came in a period' },
  { part: "LATERAL (SELECT DISTINCT found->>'code'", why: 'statistics: all decided in a period' },
  { part: 'AS past_due', why: 'statistics: all that waits' },
  { part: "state = 'withdrawn' AND told_at IS NULL LIMIT", why: 'a job: all that waits for it' },
];

/** Routes without statements, or with only statements that another route executes as well. */
const SILENT =
  /^(GET \/(openapi|for-agents|policy|llms|robots|sitemap|docs|livez|readyz|\.well-known|moderation|assets|$)|GET \/api\/moderation\/stream)/;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Filter?: string;
  'Parent Relationship'?: string;
  Plans?: Plan[];
}

/** Plan nodes that read all of their input before they return a row. */
const GATHERS = /Sort|Aggregate|Hash|Materialize|Unique/;

/**
 * Tables that a plan reads in full, sequentially or by an index (`table by index`), unless a LIMIT
 * ends the scan after the first rows.
 */
function scans(plan: Plan, first = false): string[] {
  const { 'Node Type': type, 'Relation Name': table = '?', 'Index Name': index = '' } = plan;
  const all = /Index( Only)? Scan$/.test(type) && !plan['Index Cond'] && !first;
  const whole = type === 'Seq Scan' ? table : all ? `${table} by ${index}` : undefined;
  return [
    ...(whole && !(table in SMALL) ? [whole] : []),
    ...(plan.Plans ?? []).flatMap((one) => {
      const inner = one['Parent Relationship'] === 'Inner' || GATHERS.test(type);
      return scans(one, type === 'Limit' || (first && !inner));
    }),
  ];
}

/**
 * Filters of growing tables that compare each row with each element of a list, as a prepared
 * statement may do with `= ANY($1)`; `IN (SELECT unnest($1))` does a lookup instead. Lists of
 * `type` are short, so they are exempt.
 */
function comparisons({ Filter = '', ...plan }: Plan): string[] {
  const long = /(?<!\btype )(?:= ANY|<> ALL) \(\$/.test(Filter);
  const table = plan['Relation Name'] ?? '';
  return [
    ...(long && !(table in SMALL) ? [`${table}: ${Filter}`] : []),
    ...(plan.Plans ?? []).flatMap(comparisons),
  ];
}

/** Matches a scan by an index other than the primary key, which may be a partial index. */
const BESIDE_KEY = / by (?!.*_pkey$)/;

const plannable = ({ text }: Sql) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text);

/** The plan of a statement on its connection; a prepared statement is planned for any values. */
async function planOf(client: pg.Client, statement: Sql): Promise<Plan> {
  const { rows } = await (statement.name ? explainPrepared : explain)(client, statement);
  return rows[0]['QUERY PLAN'][0].Plan;
}

const explain = (client: pg.Client, { text, values }: Sql) =>
  client.query(`EXPLAIN (FORMAT JSON) ${text}`, values);

/** Does not use EXPLAIN (GENERIC_PLAN), which PostgreSQL 15 lacks. */
async function explainPrepared(client: pg.Client, { text, values }: Sql) {
  await client.query(`PREPARE statement AS ${text}`);
  const given = values.length > 0 ? `(${values.map(() => 'NULL').join(', ')})` : '';
  const explained = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE statement ${given}`);
  await client.query('DEALLOCATE statement');
  return explained;
}

t.test('no statement of a request or a job reads a growing table from end to end', async (t) => {
  const { service, statements } = await recordRun(t, fill);
  const alone = [...statements.values()].filter(plannable);
  // Also plan the statements that read for a batch of commands.
  const together = readsByKey;
  t.ok(together.length > 10, `${together.length} reads of several commands`);
  const planned = [...alone, ...together];
  t.ok(planned.length > 150, `${planned.length} statements`);
  const prepared = planned.filter(({ name }) => name !== '').length;
  t.ok(prepared > 150, `${prepared} of them prepared`);
  // Also plan on an empty database, since connections keep such plans when the tables have grown,
  // and on a quiet one, with hardly any pending or temporary rows.
  const { url: empty } = await testDatabase(t);
  const filled = service.database.url;
  for (const [state, database] of [
    ['filled', filled],
    ['empty', empty],
    ['quiet', filled],
  ] as const) {
    if (state === 'quiet') await quieten(service);
    await withConnection(database, async (client) => {
      await client.query(BY_INDEX);
      for (const statement of planned) {
        const text = statement.text.replaceAll(/\s+/g, ' ');
        if (WHOLE.some(({ part }) => text.includes(part))) continue;
        const plan = await planOf(client, statement);
        const found = [...new Set(scans(plan))];
        // Until the first ANALYZE, which comes soon, a partial index looks short.
        const counted = state === 'empty' ? found.filter((name) => !BESIDE_KEY.test(name)) : found;
        t.same(counted, [], `${state}: ${text.slice(0, 150)}`);
        t.same(comparisons(plan), [], `${state}, of a list: ${text.slice(0, 150)}`);
      }
    });
  }

  const called = new Set(
    service.logged.map((line) => JSON.parse(line)).map(({ method, route }) => `${method} ${route}`),
  );
  const missing = [...service.operations.values()]
    .map(({ route }) => `${route.method} ${route.path}`)
    .filter((row) => !called.has(row) && !SILENT.test(row));
  t.same(missing, [], 'every row of the route table was called');
});
