import { JOBS_SCHEMA } from '../../platform/postgres/migrate.ts';
import { sql } from '../../platform/sql.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, ok, orOk, warn } from './finding.ts';

interface Role {
  name: string;
  superuser: boolean;
  /** The first role of a server, which stays a superuser. */
  bootstrap: boolean;
  /** Tables that the role cannot use. */
  lacking: string[];
}

const ROLE = sql<Role>`SELECT quote_ident(rolname) AS name, rolsuper AS superuser,
    oid = 10 AS bootstrap,
    ARRAY(SELECT t.oid::regclass::text FROM pg_class t
      WHERE relkind IN ('r', 'p') AND relnamespace IN
          (SELECT oid FROM pg_namespace WHERE nspname IN ('public', ${JOBS_SCHEMA}))
        AND NOT (has_table_privilege(t.oid, 'SELECT') AND has_table_privilege(t.oid, 'INSERT')
          AND has_table_privilege(t.oid, 'UPDATE') AND has_table_privilege(t.oid, 'DELETE'))
      ORDER BY 1) AS lacking
  FROM pg_roles WHERE rolname = current_user`;

/** Checks that the service's role can use the tables, and is no superuser. */
export async function checkRoles({ ask, config }: Context): Promise<Finding[]> {
  const [role] = await ask(ROLE);
  if (!role) throw new Error('the role has no entry in pg_roles');
  const { name, superuser, bootstrap, lacking } = role;
  if (config.databaseUrl === undefined)
    return [ok('The embedded PostgreSQL has one role, its superuser')];
  return orOk(
    [
      superuser &&
        warn(
          `The role ${name} is a superuser, who can switch off every protection of the log`,
          bootstrap
            ? "CREATE ROLE service LOGIN PASSWORD '…', and restore a backup into a database of that role"
            : `ALTER ROLE ${name} NOSUPERUSER`,
        ),
      lacking.length > 0 &&
        bad(
          `The role ${name} cannot use ${lacking.length} tables, such as ${lacking[0]}`,
          [
            `GRANT USAGE ON SCHEMA ${JOBS_SCHEMA} TO ${name}`,
            `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public, ${JOBS_SCHEMA} TO ${name}`,
            `GRANT USAGE ON ALL SEQUENCES IN SCHEMA public, ${JOBS_SCHEMA} TO ${name}`,
          ].join('; '),
        ),
    ],
    `The role ${name} can use the tables, and is no superuser`,
  );
}
