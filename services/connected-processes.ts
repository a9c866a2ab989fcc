import type pg from 'pg';

// An idle process may have no other connection than the one that listens (platform/postgres/notifications.ts).
const NAME = "regexp_replace(application_name, ' wake-ups$', '')";

/** SQL: whether a row of `pg_stat_activity` is a connection of a process of the service to this database. */
export const IS_PROCESS = `datname = current_database()
    AND ${NAME} IN ('service web', 'worker', 'worker-jobs')`;

const PROCESSES = `SELECT DISTINCT ${NAME} AS name FROM pg_stat_activity
  WHERE ${IS_PROCESS} AND pid <> pg_backend_pid() ORDER BY 1`;

/** The names of the processes of the service that are connected to the database. */
export async function connectedProcesses(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(PROCESSES);
  return rows.map(({ name }) => name);
}

/** Throws while processes of the service are connected. `work` says what they would disturb, such as `Tables are moved`. */
export async function requireNoProcess(client: pg.ClientBase, work: string): Promise<void> {
  const processes = await connectedProcesses(client);
  if (processes.length > 0)
    throw new Error(
      `${work} while no process uses them, but ${processes.join(', ')} connected: stop all processes`,
    );
}
