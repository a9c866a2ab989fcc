import { JOBS_SCHEMA } from '../../platform/postgres/migrate.ts';
import { sql } from '../../platform/sql.ts';
import { type Context, type Finding, orOk, warn } from './check.ts';

/** Pages of the log that are looked at for its largest streams, so that a large log takes no longer. */
const SAMPLED_PAGES = 10_000;

interface Upkeep {
  vacuums: boolean;
  counts: boolean;
  /** Tables for which autovacuum is off. */
  excluded: string[];
  /** Tables of at least 1 MiB without statistics. */
  unanalysed: string[];
  /** Of the log, in percent. */
  sample: number;
}

const UPKEEP = sql<Upkeep>`WITH tables AS (
    SELECT oid, oid::regclass::text AS name, reltuples, reloptions FROM pg_class
    WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, to_regnamespace(${JOBS_SCHEMA})))
  SELECT current_setting('autovacuum')::boolean AS vacuums,
    current_setting('track_counts')::boolean AS counts,
    ARRAY(SELECT name FROM tables, unnest(reloptions) option
      WHERE option ~ '^autovacuum_enabled=(off|false|no|0)$' ORDER BY 1) AS excluded,
    ARRAY(SELECT name FROM tables
      WHERE reltuples < 0 AND pg_relation_size(oid) >= 1048576 ORDER BY 1) AS unanalysed,
    least(100, 100 * ${SAMPLED_PAGES}::float8 / greatest(1,
      (SELECT sum(pg_relation_size(part)) FROM (SELECT 'public.events'::regclass
        UNION ALL SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'public.events'::regclass)
        parts (part)) / 8192)) AS sample`;

interface Largest {
  stream: string | null;
  member: string | null;
  case: string | null;
}

const largest = (sample: number) => sql<Largest>`SELECT
  (SELECT stream_id || ' (' || stream_version || ' events)'
    FROM public.events TABLESAMPLE SYSTEM (${sample}::real)
    ORDER BY stream_version DESC LIMIT 1) AS stream,
  (SELECT member_id || ' (' || sequence || ' updates)' FROM feed_heads
    ORDER BY sequence DESC LIMIT 1) AS member,
  (SELECT case_id || ' (' || count(*) || ' participants)' FROM case_members
    GROUP BY case_id ORDER BY count(*) DESC LIMIT 1) AS "case"`;

/** Checks that PostgreSQL tidies the tables and has statistics of them, and names the largest records. */
export async function checkTables({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const [upkeep] = await ask(UPKEEP);
  if (!upkeep) throw new Error('the catalogue did not answer');
  const { vacuums, counts, excluded, unanalysed, sample } = upkeep;
  const [found] = await ask(largest(sample));
  const named = Object.entries(found ?? {}).flatMap(([kind, name]) =>
    name === null ? [] : [`${kind} ${name}`],
  );
  const reload = 'SELECT pg_reload_conf()';
  return orOk(
    [
      !vacuums &&
        warn(
          'autovacuum is off, so that tables grow and plans get worse',
          `ALTER SYSTEM SET autovacuum = on; ${reload}`,
        ),
      !counts &&
        warn(
          'track_counts is off, so that autovacuum does nothing',
          `ALTER SYSTEM SET track_counts = on; ${reload}`,
        ),
      ...excluded.map((name) =>
        warn(
          `autovacuum leaves out the table ${name}`,
          `ALTER TABLE ${name} RESET (autovacuum_enabled)`,
        ),
      ),
      unanalysed.length > 0 &&
        warn(
          `There are no statistics of ${unanalysed.join(', ')}, as after a dump was loaded, so that plans may be bad`,
          `ANALYZE ${unanalysed.join(', ')}`,
        ),
    ],
    `autovacuum tidies the tables; ${named.length > 0 ? `the largest: ${named.join(', ')}` : 'they are empty'}`,
  );
}
