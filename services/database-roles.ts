import type pg from 'pg';
import { WRITTEN_COLUMNS } from '../platform/eventstore/append.ts';
import { type LockWait, withAdvisoryLock } from '../platform/postgres/advisory-lock.ts';
import { plannerSettingsLacking } from '../platform/postgres/database-settings.ts';
import { type Engine, readEngine } from '../platform/postgres/engine.ts';
import { JOBS_SCHEMA } from '../platform/postgres/migrate.ts';
import { named, type Sql } from '../platform/sql.ts';

/**
 * The roles of an installation whose processes do not own the tables: `service` for web and worker,
 * `service_read` for DATABASE_READ_URL, `service_metrics` for monitoring. See docs/operating/roles.md.
 */
export const DATABASE_ROLES = ['service', 'service_read', 'service_metrics'] as const;

const ROWS = 'SELECT, INSERT, UPDATE, DELETE';

/** Tables in which `service` may not change or delete every row. An erasure empties the columns. */
const LIMITED: Readonly<Record<string, string>> = {
  events: `SELECT, INSERT (${Object.keys(WRITTEN_COLUMNS).join(', ')}), UPDATE (personal)`,
  receipts: 'SELECT, INSERT, UPDATE (body_hash, bound, reply)',
  case_steps: 'SELECT',
  feed: 'SELECT, INSERT',
  feed_heads: 'SELECT, INSERT, UPDATE',
  feed_restores: 'SELECT',
  given_up_keys: 'SELECT, INSERT',
  log_epochs: 'SELECT',
  record_leaves: 'SELECT',
  schema_migrations: 'SELECT',
  sandbox: 'SELECT',
  seal_leaves: 'SELECT, INSERT, UPDATE (epoch, leaf, words_commitment, words_salt)',
  seal_tiles: 'SELECT, INSERT, UPDATE (hashes)',
  seal_trees: 'SELECT, INSERT, UPDATE',
  server_keys: 'SELECT, INSERT',
};

/** On a cluster the coordinator passes the position on to the node that has the owner, so the role has to write it there. */
const limitedOn = ({ distributed }: Engine): Readonly<Record<string, string>> =>
  distributed
    ? { ...LIMITED, events: LIMITED.events?.replace('INSERT (', 'INSERT (position, ') ?? '' }
    : LIMITED;

/** What anonymous reads use. Feeds tell when a record became public again, and since when there is a service. */
const PUBLICLY_READ: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...['activity', 'artifacts', 'case_notes', 'case_reviews', 'case_submissions', 'cases'],
      ...['handles', 'members', 'moderation_weeks', 'notes', 'policies', 'profiles'],
      ...['case_steps', 'record_leaves', 'seal_tiles', 'seal_trees'],
    ].map((table) => [table, 'SELECT']),
  ),
  // Since when a record is public again; neither who decided, nor why.
  record_decisions: 'SELECT (subject_type, subject_id, author_id, decision, decided_at, undone_at)',
  schema_migrations: 'SELECT (applied_at)',
};

/** Tables and views. Partitions are left out: a statement on their table needs no privilege on them. */
const TABLES = `SELECT oid, relname FROM pg_class WHERE relkind IN ('r', 'p', 'v')
  AND (relnamespace = 'public'::regnamespace AND NOT relispartition
    OR relnamespace = to_regnamespace('${JOBS_SCHEMA}'))
  AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid
    AND deptype = 'e')`;

/**
 * Creates the roles that are missing, and grants them what they need and nothing else. The current
 * role must own the tables. Throws, with the SQL for a superuser, if it lacks another privilege.
 */
export const grantRoles = (client: pg.ClientBase, wait?: LockWait): Promise<void> =>
  withAdvisoryLock(client, 'roles', () => grantLocked(client), wait);

async function grantLocked(client: pg.ClientBase): Promise<void> {
  await client.query('BEGIN');
  try {
    await requireLimited(client);
    await administer(client);
    for (const statement of await grants(client)) await client.query(statement);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** Whether the roles were granted in this database, so that a release has to grant its new tables. */
export async function areGranted(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_class, aclexplode(relacl) item WHERE oid = to_regclass('public.events')
       AND item.grantee = to_regrole('service') AND item.grantee <> relowner`,
  );
  return rowCount !== 0;
}

/**
 * Whether the roles were created on this server for an installation whose processes do not own the
 * tables, so that a database that was restored has to grant its tables to them.
 */
export async function areWanted(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_class WHERE oid = to_regclass('public.events')
       AND (SELECT count(*) FROM pg_roles WHERE rolname = ANY($1)) = cardinality($1)
       AND NOT pg_has_role(to_regrole('service'), relowner, 'USAGE')`,
    [DATABASE_ROLES],
  );
  return rowCount !== 0;
}

/** The roles that are missing on this server, where web and worker do not own the tables. */
export async function missingRoles(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ role: string }>(
    `SELECT role FROM unnest($1::text[]) role, pg_class WHERE oid = to_regclass('public.events')
       AND to_regrole(role) IS NULL
       AND coalesce(NOT pg_has_role(to_regrole('service'), relowner, 'USAGE'), true)`,
    [DATABASE_ROLES],
  );
  return rows.map(({ role }) => role);
}

/**
 * The tables that the current role cannot use as the service does, whether it owns the log, and
 * whether it could use the log as a member of `service`, which it is not.
 */
export function unusableTables(): Sql<{ lacking: string[]; owned: boolean; granted: boolean }> {
  return named(
    `SELECT ARRAY(SELECT oid::regclass::text
         FROM (${TABLES}) t LEFT JOIN unnest($1::text[], $2::text[]) limited (relname, privileges)
           USING (relname),
           string_to_table(coalesce(privileges, '${privilegesOf(ROWS)}'), ',') privilege
         GROUP BY oid HAVING NOT bool_and(CASE privilege
           WHEN 'DELETE' THEN has_table_privilege(oid, privilege)
           ELSE has_any_column_privilege(oid, privilege) END)
         ORDER BY 1) AS lacking,
       EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('public.events')
         AND pg_has_role(relowner, 'USAGE')) AS owned,
       coalesce(has_any_column_privilege(to_regrole('service'), to_regclass('public.events'), 'INSERT')
         AND NOT pg_has_role(to_regrole('service'), 'USAGE'), false) AS granted`,
    [Object.keys(LIMITED), Object.values(LIMITED).map(privilegesOf)],
  );
}

/** What a role may do with a table or sequence beyond what `grantRoles` grants. */
export interface Excess {
  /** The role as SQL spells it, or `everybody`. */
  role: string;
  relation: string;
  /** Such as `UPDATE (reply), DELETE`. */
  privileges: string;
  /** Whether `grantRoles` revokes it. */
  limited: boolean;
}

/**
 * The privileges on tables and sequences that a role of `DATABASE_ROLES`, the current role or everybody
 * was granted beyond what they need. A privilege of the owner is no excess.
 */
export function excessPrivileges(engine: Engine): Sql<Excess> {
  const wanted = [
    ...Object.entries(limitedOn(engine)).flatMap(([table, grant]) =>
      grantedBy('service', table, grant),
    ),
    ...Object.entries(PUBLICLY_READ).flatMap(([table, grant]) =>
      grantedBy('service_read', table, grant),
    ),
  ];
  const column = (name: keyof (typeof wanted)[number]) => wanted.map((one) => one[name]);
  return named(
    `WITH relations AS (SELECT oid, relname, relkind, relowner, relacl FROM pg_class
       WHERE relkind IN ('r', 'p', 'v', 'S') AND NOT relispartition AND NOT EXISTS (SELECT FROM pg_depend
           WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
         AND relnamespace IN ('public'::regnamespace, to_regnamespace('${JOBS_SCHEMA}'))),
     given AS (
       SELECT oid, relname, relkind, relowner, grantee, privilege_type, '' AS attname
       FROM relations, aclexplode(relacl)
       UNION ALL SELECT c.oid, relname, relkind, relowner, grantee, privilege_type, attname
       FROM relations c JOIN pg_attribute ON attrelid = c.oid AND NOT attisdropped, aclexplode(attacl)),
     wanted AS (SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
       AS w (role, relname, privilege, attname)),
     named AS (SELECT given.*, coalesce(rolname, 'everybody') AS role,
         coalesce(quote_ident(rolname), 'everybody') AS spelt
       FROM given LEFT JOIN pg_roles r ON r.oid = grantee
       WHERE grantee <> relowner AND (grantee = 0 OR rolname = ANY($5) OR rolname = current_user))
     SELECT spelt AS role, oid::regclass::text AS relation, role = ANY($5) AS limited,
       string_agg(privilege_type || CASE attname WHEN '' THEN '' ELSE ' (' || attname || ')' END, ', '
         ORDER BY privilege_type, attname) AS privileges
     FROM named n
     WHERE NOT EXISTS (SELECT FROM wanted w WHERE w.role = n.role AND w.relname = n.relname
         AND w.privilege = n.privilege_type AND w.attname IN (n.attname, ''))
       AND NOT (n.role = 'service' AND (n.relkind = 'S' AND privilege_type = 'SELECT'
         OR n.relkind <> 'S' AND relname <> ALL($6)
           AND privilege_type = ANY(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'])))
     GROUP BY spelt, role, oid ORDER BY spelt, 2`,
    [
      column('role'),
      column('table'),
      column('privilege'),
      column('column'),
      DATABASE_ROLES,
      Object.keys(LIMITED),
    ],
  );
}

/** The parts of a grant such as `SELECT, UPDATE (a, b)`: `column` is empty for the whole table. */
function grantedBy(role: string, table: string, grant: string) {
  return [...grant.matchAll(/([A-Z]+)(?: \(([^)]+)\))?/g)].flatMap(
    ([, privilege = '', columns = '']) =>
      columns.split(', ').map((column) => ({ role, table, privilege, column })),
  );
}

const privilegesOf = (grant: string): string => grant.match(/[A-Z]+/g)?.join(',') ?? '';

async function requireLimited(client: pg.ClientBase): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_class
     WHERE oid = 'public.events'::regclass AND pg_has_role(to_regrole('service'), relowner, 'USAGE')`,
  );
  if (rowCount !== 0)
    throw new Error(
      'The role service owns the tables or is a superuser, which no grant limits: see docs/operating/roles.md',
    );
}

/** Runs the statements that need more than to own the tables, unless they were run before. */
async function administer(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `SELECT 'CREATE ROLE ' || role || ' LOGIN' AS statement FROM unnest($1::text[]) role
     WHERE to_regrole(role) IS NULL
     UNION ALL SELECT 'GRANT pg_monitor TO service_metrics' WHERE NOT EXISTS (SELECT FROM pg_auth_members
       WHERE roleid = 'pg_monitor'::regrole AND member = to_regrole('service_metrics'))`,
    [DATABASE_ROLES],
  );
  const statements = [
    ...rows.map(({ statement }) => statement),
    ...(await plannerSettingsLacking(client, 'service')),
    ...(await plannerSettingsLacking(client, 'service_read')),
  ];
  try {
    for (const statement of statements) await client.query(statement);
  } catch (error) {
    if ((error as { code?: unknown }).code !== '42501') throw error;
    throw new Error(
      `A superuser has to run, once, before the roles can be granted:\n${statements
        .map((statement) => `  ${statement};`)
        .join('\n')}`,
    );
  }
}

/** First revokes what an earlier release has granted. */
async function grants(client: pg.ClientBase): Promise<string[]> {
  const limited = limitedOn(await readEngine(client));
  const { rows } = await client.query<{ database: string; tables: string }>(
    `SELECT quote_ident(current_database()) AS database,
       string_agg(oid::regclass::text, ', ') AS tables
     FROM (${TABLES}) t WHERE relname <> ALL($1)`,
    [Object.keys(LIMITED)],
  );
  return [
    `REVOKE ALL ON ALL TABLES IN SCHEMA public, ${JOBS_SCHEMA} FROM ${DATABASE_ROLES.join(', ')}`,
    `REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM ${DATABASE_ROLES.join(', ')}`,
    `GRANT CONNECT ON DATABASE ${rows[0]?.database} TO ${DATABASE_ROLES.join(', ')}`,
    // Live proofs and reads of the past make temporary tables.
    `GRANT TEMPORARY ON DATABASE ${rows[0]?.database} TO service`,
    'GRANT USAGE ON SCHEMA public TO service_read',
    `GRANT USAGE ON SCHEMA public, ${JOBS_SCHEMA} TO service`,
    `GRANT ${ROWS} ON ${rows[0]?.tables} TO service`,
    ...Object.entries(limited).map(([table, grant]) => `GRANT ${grant} ON ${table} TO service`),
    // A backup notes the last position that was given out.
    'GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO service',
    'GRANT EXECUTE ON FUNCTION drop_unfinished_rebuild() TO service',
    ...Object.entries(PUBLICLY_READ).map(
      ([table, grant]) => `GRANT ${grant} ON ${table} TO service_read`,
    ),
  ];
}
