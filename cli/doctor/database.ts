import { sql } from '../../platform/sql.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, orOk, warn } from './finding.ts';

const OLDEST_MAJOR = 15;
const NEWEST_MAJOR = 18;

/** Checks the version of PostgreSQL, and that it takes writes. */
export async function checkDatabase({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const [server] = await ask(sql<{ version: string; standby: boolean }>`
    SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS standby`);
  const version = server?.version ?? '';
  return orOk(
    [
      versionFinding(version),
      server?.standby &&
        bad(
          'DATABASE_URL leads to a standby, which takes no writes',
          'export DATABASE_URL with the address of the primary, or SELECT pg_promote()',
        ),
    ],
    `PostgreSQL ${version}`,
  );
}

/** What is wrong with a version of PostgreSQL, such as `18.4` or `19beta1`. */
export function versionFinding(version: string): Finding | undefined {
  const major = Number.parseInt(version, 10);
  if (major < OLDEST_MAJOR)
    return bad(`PostgreSQL ${version} is older than ${OLDEST_MAJOR}`, 'pg_upgrade');
  if (major > NEWEST_MAJOR)
    return warn(
      `This release was tested with PostgreSQL up to ${NEWEST_MAJOR}, not with ${version}`,
      'TEST_DATABASE_URL=postgres://… npm test',
    );
  return undefined;
}
