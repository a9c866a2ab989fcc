import { DEAD_LETTERS } from '../../platform/jobs/queues.ts';
import { JOBS_SCHEMA } from '../../platform/postgres/migrate.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { IS_PROCESS } from '../connected-processes.ts';

// What the page for operators reads. No statement reads more rows than a limit names, however large the tables are.

/** The page counts no further, and says so. */
export const MAX_COUNTED_ROWS = 10_000;
export const MAX_COUNTED_JOBS = 1000;
/** Counters of limits that are looked at, the newest first. */
export const MAX_COUNTERS = 10_000;
/** Pages of the log in which the largest stream is looked for. */
const SAMPLED_PAGES = 500;
const PAGE_BYTES = 8192;

export interface ServerRow {
  version: string;
  standby: boolean;
  started_at: Date;
  connections: number;
  max_connections: number;
  citus: string | null;
  synchronous: boolean;
  /** Whether the role sees other servers that follow this one. */
  sees_standbys: boolean;
  standbys: number;
}

export const server = (): Sql<ServerRow> =>
  sql`SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS standby,
    pg_postmaster_start_time() AS started_at,
    (SELECT count(*)::int FROM pg_stat_activity WHERE datid IS NOT NULL) AS connections,
    current_setting('max_connections')::int AS max_connections,
    (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS citus,
    current_setting('synchronous_standby_names') <> '' AS synchronous,
    pg_has_role('pg_read_all_stats', 'USAGE') AS sees_standbys,
    (SELECT count(*)::int FROM pg_stat_replication WHERE state = 'streaming') AS standbys`;

export interface ProgramRow {
  name: string;
  connections: number;
  /** Processes that listen for wake-ups: each has one connection for that, which it opens on first use. */
  listening: number;
  since: Date;
}

/** The connections of web and worker processes; those of one that does nothing are closed after 30 seconds. */
export const programs = (): Sql<ProgramRow> =>
  named(
    `SELECT CASE WHEN application_name LIKE 'worker%' THEN 'worker' ELSE 'web' END AS name,
      count(*)::int AS connections, min(backend_start) AS since,
      (count(*) FILTER (WHERE application_name LIKE '% wake-ups'))::int AS listening
    FROM pg_stat_activity WHERE ${IS_PROCESS} GROUP BY 1 ORDER BY 1`,
    [],
  );

export const migrations = (): Sql<{ name: string; applied_at: Date }> =>
  sql`SELECT name, applied_at FROM schema_migrations ORDER BY version`;

export interface TableRow {
  name: string;
  /** Estimated, as are `dead`. */
  rows: number;
  dead: number;
  bytes: number;
  partitions: number;
}

/** Size and estimated rows of tables, with their partitions. */
export const tableSizes = (tables: readonly string[]): Sql<TableRow> =>
  sql`SELECT root.relname AS name,
      sum(coalesce(nullif(pg_stat_get_live_tuples(part.oid), 0),
        (SELECT greatest(reltuples, 0) FROM pg_class WHERE pg_class.oid = part.oid)))::float8 AS rows,
      sum(pg_stat_get_dead_tuples(part.oid))::float8 AS dead,
      sum(pg_total_relation_size(part.oid))::float8 AS bytes,
      (count(*) FILTER (WHERE part.oid <> root.oid))::int AS partitions
    FROM unnest(${tables}::text[]) given
      JOIN pg_class root ON root.relname = given AND root.relnamespace = 'public'::regnamespace
      CROSS JOIN LATERAL (SELECT coalesce(tree.relid, root.oid) AS oid
        FROM (VALUES (1)) one LEFT JOIN pg_partition_tree(root.oid) tree ON tree.isleaf) part
    GROUP BY root.relname ORDER BY 4 DESC, 1`;

export const newestEvent = (): Sql<{ position: number; recorded_at: Date }> =>
  sql`SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1`;

export const epoch = (): Sql<{ epoch: number; began_at: Date | null; position: number }> =>
  sql`SELECT epoch, CASE WHEN isfinite(began_at) THEN began_at END AS began_at, position
    FROM log_epochs ORDER BY epoch DESC LIMIT 1`;

/** The distinct streams of the log as the planner estimates them: a number, or minus a share of the events. */
export const streamEstimate = (): Sql<{ distinct_streams: number }> =>
  sql`SELECT n_distinct::float8 AS distinct_streams FROM pg_stats
    WHERE schemaname = 'public' AND tablename = 'events' AND attname = 'stream_id'
    ORDER BY inherited DESC LIMIT 1`;

/** The largest stream on some pages of the log, which are the same each time. */
export const largestStream = (logBytes: number): Sql<{ stream_id: string; events: number }> => {
  const percent = Math.min(100, (100 * SAMPLED_PAGES * PAGE_BYTES) / Math.max(1, logBytes));
  return sql`SELECT stream_id, stream_version AS events
    FROM events TABLESAMPLE SYSTEM (${percent}::real) REPEATABLE (1)
    ORDER BY stream_version DESC LIMIT 1`;
};

export interface QueueRow {
  queue: string;
  /** Due and not started. */
  waiting: number;
  oldest: Date | null;
  active: number;
}

/** Jobs of a queue in a state, by an index that has them in this order, so that no other job is read. */
const jobsOf = (queue: string, state: 'created' | 'retry' | 'active', columns: string): string =>
  `(SELECT ${columns} FROM ${JOBS_SCHEMA}.job WHERE name = ${queue} AND state = '${state}' AND NOT blocked
    AND start_after <= clock_timestamp() ORDER BY start_after LIMIT $1)`;

/** The jobs of each queue: counts one more than `MAX_COUNTED_JOBS` of each state at most. */
export const queues = (): Sql<QueueRow> =>
  named(
    `SELECT q.name AS queue, due.jobs AS waiting, due.oldest, active.jobs AS active
    FROM ${JOBS_SCHEMA}.queue q
      CROSS JOIN LATERAL (SELECT count(*)::int AS jobs, min(start_after) AS oldest
        FROM (${jobsOf('q.name', 'created', 'start_after')}
          UNION ALL ${jobsOf('q.name', 'retry', 'start_after')}) job) due
      CROSS JOIN LATERAL (SELECT count(*)::int AS jobs
        FROM ${jobsOf('q.name', 'active', 'start_after')} job) active
    WHERE q.name <> $2 ORDER BY 2 DESC, 1`,
    [MAX_COUNTED_JOBS + 1, DEAD_LETTERS],
  );

/** Dead letters by the queue that they come from, among the oldest `MAX_COUNTED_JOBS` and one more. */
export const deadLettersByQueue = (): Sql<{ queue: string; jobs: number; oldest: Date }> =>
  named(
    `SELECT coalesce(source_name, '') AS queue, count(*)::int AS jobs, min(created_on) AS oldest
    FROM ${jobsOf('$2', 'created', 'source_name, created_on')} dead
    GROUP BY 1 ORDER BY 2 DESC, 1`,
    [MAX_COUNTED_JOBS + 1, DEAD_LETTERS],
  );

/** The active members, of whom a count is kept. */
export const activeMembers = (): Sql<{ members: number }> =>
  sql`SELECT active AS members FROM membership_totals`;

export interface AccessRow {
  credentials: number;
  sessions: number;
}

/** Active credentials that expire, and sessions that have not ended. */
export const access = (): Sql<AccessRow> =>
  sql`SELECT
    (SELECT count(*)::int FROM (SELECT FROM credentials
      WHERE state = 'active' AND expires_at < 'infinity' LIMIT ${MAX_COUNTED_ROWS + 1}) one) AS credentials,
    (SELECT count(*)::int FROM (SELECT FROM sessions
      WHERE ended_at IS NULL LIMIT ${MAX_COUNTED_ROWS + 1}) one) AS sessions`;

export const moderatorsByRole = (): Sql<{ role: string; moderators: number }> =>
  sql`SELECT role, count(*)::int AS moderators FROM moderators WHERE state = 'active'
    GROUP BY role ORDER BY role`;

/** A limit as it is compared with its counters. */
export interface ComparedLimit {
  kind: string;
  window: string;
  limit: number;
}

const columnsOf = (limits: readonly ComparedLimit[]) => [
  limits.map(({ kind }) => kind),
  limits.map(({ window }) => window),
  limits.map(({ limit }) => limit),
];

/** What all callers together have used of limits of the service, in the present window. */
export const usedOfService = (
  limits: readonly ComparedLimit[],
): Sql<{ kind: string; used: number }> =>
  named(
    `SELECT given.kind, coalesce(counter.count, 0) AS used
    FROM unnest($1::text[], $2::text[], $3::int[]) given (kind, span, most)
      LEFT JOIN rate_counters counter ON counter.kind = given.kind AND counter.bucket = 'service'
        AND counter.window_start = date_bin(given.span::interval, statement_timestamp(), 'epoch')`,
    columnsOf(limits),
  );

/** Callers at four fifths of a limit, and at the limit, among the newest `MAX_COUNTERS` counters. */
export const nearLimits = (
  limits: readonly ComparedLimit[],
): Sql<{ kind: string; near: number; used_up: number }> =>
  named(
    `SELECT given.kind, (count(*) FILTER (WHERE counter.count < given.most))::int AS near,
      (count(*) FILTER (WHERE counter.count >= given.most))::int AS used_up
    FROM (SELECT kind, window_start, count FROM rate_counters
        WHERE window_start > statement_timestamp() - interval '1 day'
        ORDER BY window_start DESC LIMIT $4) counter
      JOIN unnest($1::text[], $2::text[], $3::int[]) given (kind, span, most) ON given.kind = counter.kind
    WHERE counter.window_start = date_bin(given.span::interval, statement_timestamp(), 'epoch')
      AND counter.count >= 0.8 * given.most
    GROUP BY given.kind ORDER BY given.kind`,
    [...columnsOf(limits), MAX_COUNTERS],
  );

export const serverKeys = (): Sql<{ key_id: number; first_used_at: Date }> =>
  sql`SELECT key_id, first_used_at FROM server_keys ORDER BY key_id DESC`;

export interface ErasureRow {
  ending: number;
  waiting: number;
  oldest: Date | null;
  notes: number;
}

/** Members and notes that wait to be erased. `rejectedDays` and `withdrawnDays` are how long texts of notes are kept. */
export const erasures = (rejectedDays: number, withdrawnDays: number): Sql<ErasureRow> =>
  sql`SELECT (SELECT count(*)::int FROM (SELECT FROM members
      WHERE ending IS NOT NULL LIMIT ${MAX_COUNTED_JOBS + 1}) one) AS ending,
    (SELECT count(*)::int FROM (SELECT FROM members
      WHERE state = 'deactivated' AND erased_at IS NULL LIMIT ${MAX_COUNTED_JOBS + 1}) one) AS waiting,
    (SELECT deactivated_at FROM members WHERE state = 'deactivated' AND erased_at IS NULL
      ORDER BY deactivated_at LIMIT 1) AS oldest,
    (SELECT count(*)::int FROM (SELECT FROM (VALUES ('rejected', ${rejectedDays}::int),
          ('removed', ${rejectedDays}::int), ('withdrawn', ${withdrawnDays}::int)) kept (state, days),
        LATERAL (SELECT FROM notes WHERE notes.state = kept.state
          AND notes.state IN ('rejected', 'removed', 'withdrawn') AND erased_at IS NULL
          AND settled_at < statement_timestamp() - make_interval(days => kept.days)
          LIMIT ${MAX_COUNTED_JOBS + 1}) due
      LIMIT ${MAX_COUNTED_JOBS + 1}) one) AS notes`;
