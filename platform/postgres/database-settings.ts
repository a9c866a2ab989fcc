import type pg from 'pg';
import { PLANNER_SETTINGS } from './connection.ts';

interface Settings {
  encoding: string;
  dates: string;
  isolation: string;
}

/**
 * Throws if the server's settings would reject texts, format times so that the driver misreads
 * them, or turn every race into an error. Called during a release, so that the release fails, not
 * requests.
 */
export async function requireSettings(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<Settings>(`SELECT
    current_setting('server_encoding') AS encoding, current_setting('DateStyle') AS dates,
    current_setting('default_transaction_isolation') AS isolation`);
  const faults = rows.flatMap(faultsOf);
  if (faults.length > 0)
    throw new Error(`The database is not set up for the service:\n${faults.join('\n')}`);
}

/**
 * Sets the planner settings for the current role in this database, so that every connection has
 * them, also behind a pooler. A setting that the role has already stays. Timeouts are not among
 * them: they would also end the maintenance of pg-boss, which connects as the same role.
 */
export async function setPlannerSettings(client: pg.ClientBase): Promise<void> {
  for (const [name, value] of Object.entries(PLANNER_SETTINGS)) {
    const { rows } = await client.query<{ statement: string }>(
      `SELECT format('ALTER ROLE CURRENT_USER IN DATABASE %I SET %I = %L', current_database(),
         $1::text, $2::text) AS statement
       WHERE NOT EXISTS (SELECT FROM pg_db_role_setting s, unnest(s.setconfig) setting
         WHERE s.setrole = current_user::regrole
           AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
           AND setting LIKE $1::text || '=%')`,
      [name, value],
    );
    for (const { statement } of rows) await client.query(statement);
  }
}

function faultsOf({ encoding, dates, isolation }: Settings): string[] {
  return [
    ...(encoding === 'UTF8' ? [] : [`  its encoding is ${encoding}: make one with UTF8`]),
    ...(dates.startsWith('ISO') ? [] : [`  DateStyle is ${dates}: set it to ISO`]),
    ...(isolation === 'read committed'
      ? []
      : [`  default_transaction_isolation is ${isolation}: set it to read committed`]),
  ];
}
