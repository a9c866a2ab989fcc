import type pg from 'pg';
import { type BegunEpoch, beginEpoch } from '../platform/eventstore/log-epochs.ts';
import { JOBS_SCHEMA } from '../platform/postgres/migrate.ts';
import { type Sql, sql } from '../platform/sql.ts';
import { members } from '../projections/membership/members.ts';
import { connectedProcesses } from './connected-processes.ts';

// See docs/operating/sandbox.md.

type Query = (text: string) => Promise<{ rows: unknown[] }>;

export const NOT_A_SANDBOX =
  'SANDBOX is true, but the database holds events that were recorded without it, and a sandbox loses its data ' +
  'each day: set SANDBOX=false, or use an empty database';
export const IS_A_SANDBOX =
  'The database is a sandbox, which loses its data each day, but SANDBOX is not true: set SANDBOX=true, or use ' +
  'another database';
export const FOREIGN_EVENTS =
  'The database is marked as a sandbox, which loses its data each day, but it holds events from before the mark: if ' +
  'they are of another service, DELETE FROM sandbox and set SANDBOX=false; otherwise use an empty database';
export const NOT_MARKED =
  'SANDBOX is true, but the database is not set up as a sandbox: npm run release does that';

/** Tables that outlast the day as they are. */
export const KEPT_TABLES = [
  ...['schema_migrations', 'sandbox', 'log_epochs', 'server_keys', 'given_up_keys'],
  // What operators and leads set up.
  ...['moderators', 'policies', 'saved_views', 'notice_receivers'],
] as const;

/** Tables of which the rows of moderators and policies stay. */
export const PARTLY_KEPT_TABLES = ['events', 'verifiers'] as const;

/** Tables that lose all rows. A test compares these lists with the schema. */
export const EMPTIED_TABLES = [
  ...['activity', 'artifacts', 'case_members', 'case_notes', 'case_reviews', 'case_submissions'],
  ...['cases', 'claim_times', 'credential_uses', 'credentials', 'decision_figures'],
  ...['ended_verifiers', 'feed', 'feed_heads', 'feed_restores', 'handles', 'imported_notes'],
  ...[
    'member_appeals',
    'member_decisions',
    'members',
    'membership_totals',
    'moderation_weeks',
    'moderator_sessions',
  ],
  ...['note_addresses', 'note_appeals', 'note_decisions', 'note_findings', 'note_fingerprints'],
  ...[
    'note_folds',
    'note_leases',
    'note_reports',
    'note_screenings',
    'notes',
    'passkey_challenges',
    'passkeys',
  ],
  ...[
    'profiles',
    'queue_hours',
    'rate_counters',
    'read_model_proofs',
    'receipts',
    'record_decisions',
    'record_reports',
    'scheduled_backups',
  ],
  ...['report_addresses', 'reported_records', 'seal_leaves', 'seal_tiles', 'seal_trees'],
  ...['sessions', 'write_budgets', 'write_marks'],
] as const;

/** Streams of moderators and policies, without sessions. */
const KEPT_STREAMS = `(stream_id LIKE 'moderator-%' AND stream_id NOT LIKE 'moderator-session-%'
  OR stream_id LIKE 'policy-%')`;

/**
 * Whether the database is marked as a sandbox. Throws if its first event is older than the mark, which was then copied
 * into the database of another service, or their events into the sandbox.
 */
async function isMarked(query: Query): Promise<boolean> {
  const { rows } = await query(`SELECT to_regclass('public.sandbox') IS NOT NULL AS made`);
  if (!(rows[0] as { made: boolean }).made) return false;
  const marks =
    await query(`SELECT made_at > (SELECT recorded_at FROM events ORDER BY position LIMIT 1)
    IS TRUE AS foreign FROM sandbox`);
  const [mark] = marks.rows as { foreign: boolean }[];
  if (mark?.foreign) throw new Error(FOREIGN_EVENTS);
  return mark !== undefined;
}

/** Throws unless the processes of this setting may use the database. Changes nothing. */
export async function requireSandboxMark(query: Query, sandbox: boolean): Promise<void> {
  const marked = await requireSandboxOrEmpty(query, sandbox);
  if (!marked && sandbox) throw new Error(NOT_MARKED);
}

/** Throws before a release changes a database that its setting does not fit. Resolves to whether it is marked. */
export async function requireSandboxOrEmpty(query: Query, sandbox: boolean): Promise<boolean> {
  const marked = await isMarked(query);
  if (marked && !sandbox) throw new Error(IS_A_SANDBOX);
  if (!marked && sandbox && (await hasEvents(query))) throw new Error(NOT_A_SANDBOX);
  return marked;
}

async function hasEvents(query: Query): Promise<boolean> {
  const { rows } = await query(`SELECT to_regclass('public.events') IS NOT NULL AS made`);
  if (!(rows[0] as { made: boolean }).made) return false;
  return (await query('SELECT FROM events LIMIT 1')).rows.length > 0;
}

/** Marks a database without events as a sandbox. Throws while processes that may not know of it are connected. */
export const markSandbox = (client: pg.ClientBase): Promise<void> =>
  inTransaction(client, async () => {
    if (await isMarked((text) => client.query(text))) return;
    await client.query('LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    if (await hasEvents((text) => client.query(text))) throw new Error(NOT_A_SANDBOX);
    const connected = await connectedProcesses(client);
    if (connected.length > 0)
      throw new Error(
        `Stop all processes before the database becomes a sandbox: ${connected.join(', ')} connected`,
      );
    await client.query('INSERT INTO sandbox DEFAULT VALUES ON CONFLICT DO NOTHING');
  });

export interface SandboxMark {
  emptied_at: Date;
  /** The last time of day at which it had to be emptied. */
  due_at: Date;
  due: boolean;
}

/**
 * The mark of a sandbox; no row for another database. Of a day in UTC, so neither the zone of the connection nor the
 * change to summer time matters. An `emptied_at` of a clock that was more than a day ahead does not count, or nothing
 * would be emptied until then.
 */
export const sandboxMark = (emptiedAt: string): Sql<SandboxMark> =>
  sql`SELECT emptied_at, due_at,
      emptied_at < due_at OR emptied_at > statement_timestamp() + interval '1 day' AS due
    FROM sandbox, LATERAL (
      SELECT (date_trunc('day', statement_timestamp() AT TIME ZONE 'UTC' - ${emptiedAt}::interval)
        + ${emptiedAt}::interval) AT TIME ZONE 'UTC' AS due_at) AS last`;

export type Emptying =
  | { state: 'not due' }
  | { state: 'connected'; processes: string[] }
  | { state: 'locked' }
  | { state: 'emptied'; epoch: BegunEpoch };

/**
 * Empties a sandbox in one transaction, unless that was done since the last `emptiedAt` (HH:MM in UTC). Processes
 * remember members and cursors, so it does nothing while any is connected. One that connects meanwhile waits for the
 * tables, and finds them empty. Nor does it when another transaction, such as that of a backup, holds locks for a minute.
 */
export async function emptySandbox(client: pg.ClientBase, emptiedAt: string): Promise<Emptying> {
  try {
    return await inTransaction(client, () => emptyIfDue(client, emptiedAt));
  } catch (error) {
    if ((error as { code?: unknown }).code === '55P03') return { state: 'locked' };
    throw error;
  }
}

async function emptyIfDue(client: pg.ClientBase, emptiedAt: string): Promise<Emptying> {
  await client.query(`SET LOCAL lock_timeout = '60s'`);
  // Locks the row, so of two releases the second finds that nothing is due.
  await client.query('SELECT FROM sandbox FOR UPDATE');
  const { rows } = await client.query<SandboxMark>(sandboxMark(emptiedAt));
  if (!rows[0]) throw new Error(NOT_MARKED);
  await isMarked((text) => client.query(text));
  if (!rows[0].due) return { state: 'not due' };
  const all = [...EMPTIED_TABLES, ...PARTLY_KEPT_TABLES];
  const early = await connectedProcesses(client);
  if (early.length > 0) return { state: 'connected', processes: early };
  await client.query(`LOCK TABLE ${all.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  // Asked again: a process may have connected and read before the locks.
  await client.query('SELECT pg_stat_clear_snapshot()');
  const processes = await connectedProcesses(client);
  if (processes.length > 0) return { state: 'connected', processes };
  await client.query(
    `CREATE TEMPORARY TABLE kept_events ON COMMIT DROP AS SELECT * FROM events WHERE ${KEPT_STREAMS}`,
  );
  await client.query(`UPDATE sandbox SET last_checkpoint = coalesce(
      (SELECT checkpoint FROM seal_trees ORDER BY epoch DESC LIMIT 1), last_checkpoint)`);
  const triggers = await keepTableTriggers(client);
  for (const { table, trigger } of triggers)
    await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ${trigger}`);
  // Without CASCADE, which would empty tables that are not named here.
  await client.query(`TRUNCATE ${EMPTIED_TABLES.join(', ')}, events, ${JOBS_SCHEMA}.job`);
  for (const { table, trigger } of triggers)
    await client.query(`ALTER TABLE ${table} ENABLE TRIGGER ${trigger}`);
  await client.query('INSERT INTO events OVERRIDING SYSTEM VALUE SELECT * FROM kept_events');
  await client.query(`DELETE FROM verifiers WHERE purpose <> 'moderator'`);
  for (const statement of members.seed ?? []) await client.query(statement);
  const epoch = await beginEpoch(client, 'sandbox emptied');
  // Nothing of the former epoch is shared with this one, so every cursor is reset.
  await client.query(
    'UPDATE log_epochs SET position = 0 WHERE epoch = (SELECT max(epoch) FROM log_epochs)',
  );
  // What waits for a receiver names texts that are gone.
  await client.query(
    `UPDATE notice_receivers SET pending = NULL, attempts = 0, failed_since = NULL, failure = NULL, next_at = now()`,
  );
  await client.query('UPDATE sandbox SET emptied_at = statement_timestamp()');
  return { state: 'emptied', epoch };
}

/** The triggers that refuse to empty the log and the receipts; each partition has one. */
async function keepTableTriggers(client: pg.ClientBase) {
  const { rows } = await client.query<{ table: string; trigger: string }>(
    `SELECT tgrelid::regclass::text AS table, quote_ident(tgname) AS trigger FROM pg_trigger
     WHERE tgname IN ('events_keep_table', 'receipts_keep_table')`,
  );
  return rows;
}

async function inTransaction<Result>(
  client: pg.ClientBase,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
