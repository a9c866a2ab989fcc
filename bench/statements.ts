import { withConnection } from '../platform/postgres/connection.ts';

/** Server settings with which PostgreSQL collects statistics per statement. */
export const COUNTING = { shared_preload_libraries: 'pg_stat_statements' };

const MAX_STATEMENTS = 12;
const WIDTH = 100;

/**
 * Lists the statements, of service and floors, on which a server started with `COUNTING` spent most
 * time since the last call: milliseconds, calls, microseconds and rows per call, and text.
 */
export async function topStatements(url: string): Promise<string> {
  return withConnection(url, async (client) => {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    const { rows } = await client.query<{ line: string }>(
      `SELECT format('%9s%8s%9s%10s %s', round(total_exec_time::numeric), calls,
          round((total_exec_time * 1000 / calls)::numeric, 1), round(rows::numeric / calls, 1),
          left(regexp_replace(query, '\\s+', ' ', 'g'), ${WIDTH})) AS line
        FROM pg_stat_statements JOIN pg_database ON oid = dbid
        WHERE datname <> current_database() ORDER BY total_exec_time DESC LIMIT ${MAX_STATEMENTS}`,
    );
    await client.query('SELECT pg_stat_statements_reset()');
    return ['       ms   calls  us/call rows/call', ...rows.map(({ line }) => line)].join('\n');
  });
}
