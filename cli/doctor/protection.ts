import { sql } from '../../platform/sql.ts';
import { excessPrivileges, unusableTables } from '../../services/database-roles.ts';
import { bad, type Context, engineOf, type Finding, ok, orOk, warn } from './check.ts';

/** The triggers without which rows of the log could be changed, with the statement that makes each. */
const TRIGGERS = [
  ['events', 'events_keep_rows', 'UPDATE OR DELETE', 'ROW', 'refuse_event_change'],
  ['events', 'events_keep_table', 'TRUNCATE', 'STATEMENT', 'refuse_event_change'],
  ['receipts', 'receipts_keep_rows', 'UPDATE OR DELETE', 'ROW', 'refuse_receipt_change'],
  ['receipts', 'receipts_keep_table', 'TRUNCATE', 'STATEMENT', 'refuse_receipt_change'],
] as const;

interface Protection {
  /** The triggers that exist, by name, and whether they fire (`O`, or `A` for always). */
  triggers: Readonly<Record<string, string>>;
  session_role: string;
  database: string;
}

const PROTECTION = sql<Protection>`SELECT coalesce((SELECT json_object_agg(tgname, tgenabled)
    FROM pg_trigger WHERE tgrelid IN ('public.events'::regclass, 'public.receipts'::regclass)
      AND NOT tgisinternal), '{}') AS triggers,
  current_setting('session_replication_role') AS session_role,
  quote_ident(current_database()) AS database`;

/** Checks that triggers keep the log as it was written, and that no role may do more than it needs. */
export async function checkProtection({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const [found] = await ask(PROTECTION);
  if (!found) throw new Error('the catalogue did not answer');
  const excess = await ask(excessPrivileges(await engineOf(ask)));
  return orOk(
    [
      ...TRIGGERS.map(([table, name, events, each, check]) => {
        const enabled = found.triggers[name];
        if (enabled === undefined)
          return bad(
            `The table ${table} lacks the trigger ${name}, which keeps its rows`,
            `CREATE TRIGGER ${name} BEFORE ${events} ON ${table} FOR EACH ${each} EXECUTE FUNCTION ${check}()`,
          );
        return (
          !'OA'.includes(enabled) &&
          bad(
            `The trigger ${name}, which keeps the rows of ${table}, is off`,
            `ALTER TABLE ${table} ENABLE TRIGGER ${name}`,
          )
        );
      }),
      found.session_role === 'replica' &&
        bad(
          'session_replication_role is replica, so that no trigger keeps the log',
          `ALTER DATABASE ${found.database} RESET session_replication_role, and the same for the role`,
        ),
      ...excess.map(({ role, relation, privileges, limited }) =>
        warn(
          `${role} may ${privileges} ${relation}, which it does not need`,
          limited
            ? 'npm run release -- --grant'
            : `REVOKE ALL ON ${relation} FROM ${role === 'everybody' ? 'PUBLIC' : role}`,
        ),
      ),
    ],
    'Triggers keep the log, and no role may do more than it needs',
  );
}

interface Role {
  name: string;
  superuser: boolean;
  /** The first role of a server, which stays a superuser. */
  bootstrap: boolean;
}

const ROLE = sql<Role>`SELECT quote_ident(rolname) AS name, rolsuper AS superuser,
    oid = 10 AS bootstrap FROM pg_roles WHERE rolname = current_user`;

const GRANT = 'npm run release -- --grant, and connect the processes as service';

/** Checks that the service's role can use the tables, but neither owns them nor is a superuser. */
export async function checkRoles({ ask, config }: Context): Promise<Finding[]> {
  const [role] = await ask(ROLE);
  const [tables] = await ask(unusableTables());
  if (!role || !tables) throw new Error('the role has no entry in pg_roles');
  const { name, superuser, bootstrap } = role;
  const { lacking, granted, owned } = tables;
  if (config.databaseUrl === undefined)
    return [ok('The embedded PostgreSQL has one role, its superuser')];
  return orOk(
    [
      superuser &&
        warn(
          `The role ${name} is a superuser, who can switch off every protection of the log`,
          bootstrap ? GRANT : `ALTER ROLE ${name} NOSUPERUSER`,
        ),
      owned &&
        !superuser &&
        warn(`The role ${name} owns the tables, so that it can change and drop the log`, GRANT),
      lacking.length > 0 &&
        bad(
          `The role ${name} cannot use ${lacking.length} tables, such as ${lacking[0]}`,
          granted
            ? `GRANT service TO ${name}`
            : 'npm run release -- --grant, as the owner of the tables',
        ),
    ],
    `The role ${name} can use the tables, but does not own them`,
  );
}
