import type pg from 'pg';

const PROCESSES = `SELECT DISTINCT application_name AS name FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND application_name IN ('service web', 'worker', 'worker-jobs') ORDER BY 1`;

/** The names of the processes of the service that are connected to the database. */
export async function connectedProcesses(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(PROCESSES);
  return rows.map(({ name }) => name);
}
