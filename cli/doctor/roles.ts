import { sql } from '../../platform/sql.ts';
import { unusableTables } from '../../services/database-roles.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, ok, orOk, warn } from './finding.ts';

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
