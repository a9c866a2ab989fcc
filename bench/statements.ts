import pg from 'pg';
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

/** What statements on one database have cost so far. */
export interface StatementCosts {
  statements: number;
  /** Buffers that were touched. */
  buffers: number;
  walBytes: number;
}

/**
 * Counts what statements cost in the database of `url`, on a server started with `COUNTING`; the counter's own
 * statements are not among them.
 */
export async function openStatementCounter(
  server: string,
  url: string,
): Promise<{ read(): Promise<StatementCosts>; close(): Promise<void> }> {
  const client = new pg.Client(server);
  await client.connect();
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  const name = new URL(url).pathname.slice(1);
  return {
    async read() {
      const { rows } = await client.query<StatementCosts>({
        name: 'costs',
        text: `SELECT coalesce(sum(calls), 0)::float8 AS statements,
            coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 AS buffers,
            coalesce(sum(wal_bytes), 0)::float8 AS "walBytes"
          FROM pg_stat_statements(false)
          WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)`,
        values: [name],
      });
      return rows[0] as StatementCosts;
    },
    close: () => client.end(),
  };
}
