import { writeFileSync } from 'node:fs';
import type pg from 'pg';
import t from 'tap';
import { readsByKey } from '../../platform/postgres/batch-statements.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import type { Sql } from '../../platform/sql.ts';
import { leaseForMany } from '../../services/moderation/claims/next-claim.ts';
import { testDatabase } from '../support/database.ts';
import { fill, forgetStatistics, quieten, skew } from '../support/lived-in.ts';
import { recordRun } from '../support/recorded-run.ts';
import { toPsql } from '../support/statements.ts';

/** Tables that do not grow with use, and why. */
const SMALL: Readonly<Record<string, string>> = {
  moderators: 'a service has a few',
  policies: 'a service has a few',
  membership_totals: 'one row',
  schema_migrations: 'one row a migration',
  read_model_proofs: 'one row',
  server_keys: 'a service has a few',
  given_up_keys: 'a service has a few at most',
  pg_database: 'the databases of the server, of which a run of the tests has many',
  note_folds: 'ten at most, besides those that are over',
  note_leases: 'ten of each moderator at most, dropped when they end',
  claim_times: 'the items that moderators claimed in the last hour',
};

/** Indexes that a bitmap may read whole, and why. */
const FEW: Readonly<Record<string, string>> = {
  reported_records_waiting: 'the records that wait for a moderator',
};

/** Statements that may read more than an index finds, and why. */
const WHOLE: readonly { part: string; why: string }[] = [
  { part: 'pgboss.', why: 'pg-boss has its own plans' },
  { part: 'FROM note_decisions d JOIN notes n USING', why: 'statistics: all decided in a period' },
  { part: 'AS arrivals FROM (', why: 'statistics: all that came in a period' },
  { part: "LATERAL (SELECT DISTINCT found->>'code'", why: 'statistics: all decided in a period' },
  { part: "FROM notes WHERE appeal = 'open' AND settled_by IS NOT", why: 'all open appeals' },
  { part: 'SELECT disabled_by AS moderator_id', why: 'all open appeals of disabled members' },
  { part: 'INSERT INTO queue_hours', why: 'a job: all that waits, once an hour' },
  { part: "state = 'withdrawn' AND told_at IS NULL LIMIT", why: 'a job: all that waits for it' },
  {
    part: 'DELETE FROM moderation_weeks WHERE count = 0',
    why: 'a partial index that is empty between transactions',
  },
];

/** Routes without statements, or with only statements that another route executes as well. */
const SILENT =
  /^(GET \/(openapi|for-agents|developers|policy|llms|robots|sitemap|docs|livez|readyz|\.well-known|moderation|assets|guestbook$|$)|GET \/api\/moderation\/stream)/;

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
const GATHERS = /Sort|Aggregate|Hash|Materialize|Unique|Bitmap/;

/**
 * Tables that a plan reads in full, sequentially or by an index (`table by index`), unless a LIMIT
 * ends the scan after the first rows.
 */
function scans(plan: Plan, first = false): string[] {
  const { 'Node Type': type, 'Relation Name': table = '?', 'Index Name': index = '' } = plan;
  const all = /Index( Only)? Scan$/.test(type) && !plan['Index Cond'] && !first;
  const whole = type === 'Seq Scan' ? table : all ? `${table} by ${index}` : undefined;
  const few = table in SMALL || (type === 'Bitmap Index Scan' && index in FEW);
  return [
    ...(whole && !few ? [whole] : []),
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

/**
 * States in which a partial index looks short: it has no statistics until the next ANALYZE. A plan for given values is made
 * anew each time, so an index that is short with statistics may also be read. A prepared statement, however, keeps a plan
 * that was made while hardly any row was in the index.
 */
const UNCOUNTED = ['never analysed', 'empty'];
const SHORT: Readonly<Record<Mode, ReadonlySet<string>>> = {
  force_generic_plan: new Set(UNCOUNTED),
  force_custom_plan: new Set([...UNCOUNTED, 'skewed', 'quiet']),
};

/** Partial indexes that a prepared statement may read whole, because it was planned while they were short, and why. */
const LONG_UNNOTICED: Readonly<Record<string, string>> = {
  'sessions by sessions_live': 'a job: sessions of half an hour',
  'artifacts by artifacts_taken_down_of_author':
    'as many rows as the index of all that were taken down: few',
  'notes by notes_pending': 'the view of deferred notes, which moderators seldom open',
};

/** Matches a scan by an index other than the primary key, which may be a partial index. */
const BESIDE_KEY = / by (?!.*_pkey$)/;

const plannable = ({ text }: Sql) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text);

type Mode = 'force_generic_plan' | 'force_custom_plan';

/** How a connection may plan a prepared statement: for any values, or for those of each execution. */
const MODES: readonly Mode[] = ['force_generic_plan', 'force_custom_plan'];

/**
 * A statement as a mode plans it: also with empty lists if it plans for given values, since a condition that no row
 * meets makes every partial index usable, which is then read whole.
 */
function variants(
  mode: Mode,
  { text, values }: Sql,
): (Pick<Sql, 'text' | 'values'> & { lists: string })[] {
  const given = { text, values, lists: '' };
  if (mode === 'force_generic_plan' || !values.some(Array.isArray)) return [given];
  const empty = values.map((value) => (Array.isArray(value) ? [] : value));
  return [given, { text, values: empty, lists: ', empty lists' }];
}

/**
 * The plan of a statement on its connection. Does not use EXPLAIN (GENERIC_PLAN), which PostgreSQL 15
 * lacks.
 */
async function planOf(
  client: pg.Client,
  mode: Mode,
  { text, values }: Pick<Sql, 'text' | 'values'>,
) {
  if (mode === 'force_custom_plan') return explain(client, text, values);
  await client.query(`PREPARE statement AS ${text}`);
  const given = values.length > 0 ? `(${values.map(() => 'NULL').join(', ')})` : '';
  const plan = await explain(client, `EXECUTE statement ${given}`);
  await client.query('DEALLOCATE statement');
  return plan;
}

async function explain(client: pg.Client, text: string, values: unknown[] = []): Promise<Plan> {
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`, values);
  return rows[0]['QUERY PLAN'][0].Plan;
}

t.test('no statement of a request or a job reads a growing table from end to end', async (t) => {
  const { service, statements } = await recordRun(t, fill);
  const alone = [...statements.values()].filter(plannable);
  const { PRINT_STATEMENTS: file } = process.env;
  if (file) writeFileSync(file, toPsql(alone));
  // Also plan the statements that read for a batch of commands.
  const claims = (['moderator', 'lead'] as const).map((role) => ({
    ...leaseForMany({ moderatorId: '', role }),
    values: [[]],
  }));
  const together = [...readsByKey, ...claims];
  t.ok(together.length > 10, `${together.length} reads of several commands`);
  const planned = [...alone, ...together];
  t.ok(planned.length > 150, `${planned.length} statements`);
  const prepared = planned.filter(({ name }) => name !== '').length;
  t.ok(prepared > 150, `${prepared} of them prepared`);
  const { url: empty } = await testDatabase(t);
  const filled = service.database.url;
  // A connection keeps its plans when tables grow, so each statement is planned for tables of any
  // size and with any statistics.
  const states: Readonly<Record<string, () => Promise<string>>> = {
    filled: async () => filled,
    skewed: () => skew(service).then(() => filled),
    quiet: () => quieten(service).then(() => filled),
    'never analysed': () => forgetStatistics(service).then(() => filled),
    empty: async () => empty,
  };
  for (const [state, prepare] of Object.entries(states)) {
    const database = await prepare();
    await Promise.all(
      MODES.map((mode) =>
        withConnection(database, async (client) => {
          await client.query(BY_INDEX);
          await client.query(`SET plan_cache_mode = ${mode}`);
          for (const statement of planned.flatMap((one) => variants(mode, one))) {
            const text = statement.text.replaceAll(/\s+/g, ' ');
            if (WHOLE.some(({ part }) => text.includes(part))) continue;
            const plan = await planOf(client, mode, statement);
            const found = [...new Set(scans(plan))].filter(
              (name) =>
                !(SHORT[mode].has(state) && BESIDE_KEY.test(name)) &&
                !(state === 'quiet' && name in LONG_UNNOTICED),
            );
            const where = `${state}, ${mode}${statement.lists}`;
            t.same(found, [], `${where}: ${text.slice(0, 150)}`, { statement: text });
            if (mode === 'force_generic_plan')
              t.same(comparisons(plan), [], `${where}, of a list: ${text.slice(0, 150)}`);
          }
        }),
      ),
    );
  }

  const called = new Set(
    service.logged.map((line) => JSON.parse(line)).map(({ method, route }) => `${method} ${route}`),
  );
  const missing = [...service.operations.values()]
    .map(({ route }) => `${route.method} ${route.path}`)
    .filter((row) => !called.has(row) && !SILENT.test(row));
  t.same(missing, [], 'every row of the route table was called');
});
