import type pg from 'pg';

// An idle process may have no other connection than the one that listens (platform/postgres/notifications.ts).
const PROCESSES = `SELECT DISTINCT regexp_replace(application_name, ' wake-ups$', '') AS name
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND regexp_replace(application_name, ' wake-ups$', '') IN ('service web', 'worker', 'worker-jobs')
  ORDER BY 1`;

/** The names of the processes of the service that are connected to the database. */
export async function connectedProcesses(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(PROCESSES);
  return rows.map(({ name }) => name);
}
