import type pg from 'pg';
import { Client } from './client.ts';
import { backendPid, clientConfig } from './connection.ts';
import { isConnectTimeout } from './errors.ts';

const ROUNDS = 8;

/**
 * Checks that prepared statements work through the pooler at this address. Two connections prepare
 * different statements of one name and execute them in turn. Throws if one of them gets an error or
 * the other's result.
 */
export async function requirePreparedStatements(url: string): Promise<void> {
  const clients = await Promise.all([connect(url), connect(url)]);
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const [index, client] of clients.entries())
        if ((await executePrepared(client, index)) !== index) throw new Error('a wrong result');
  } catch (cause) {
    throw new Error(
      'DATABASE_URL leads through a pooler that does not keep prepared statements: PgBouncer from 1.21 with max_prepared_statements = 200 does',
      { cause },
    );
  } finally {
    for (const client of clients) void client.end().catch(() => undefined);
  }
}

/** Whether a pooler is between a connection and the server. */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid !== backendPid(client);
}

/** How long the first connection of a process is attempted, in milliseconds. */
const FIRST_CONNECTION_MS = 15_000;

/**
 * Opens the first connection of a pool. Repeats an attempt that takes too long, since on a busy machine the modules of the process load
 * meanwhile; any other error is thrown at once.
 */
export async function firstConnection(pool: pg.Pool): Promise<pg.PoolClient> {
  const until = performance.now() + FIRST_CONNECTION_MS;
  for (;;) {
    try {
      return await pool.connect();
    } catch (error) {
      if (!isConnectTimeout(error) || performance.now() > until) throw error;
    }
  }
}

/** Whether a pooler is between the connections of a new pool and the server. */
export async function leadsThroughPooler(pool: pg.Pool): Promise<boolean> {
  const client = await firstConnection(pool);
  try {
    return await isPooled(client);
  } finally {
    client.release();
  }
}

async function executePrepared(client: pg.Client, index: number): Promise<number | undefined> {
  await client.query('BEGIN');
  const { rows } = await client.query<{ index: number }>({
    name: 'pooler-check',
    text: `SELECT ${index} AS index`,
  });
  await client.query('COMMIT');
  return rows[0]?.index;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new Client({
    ...clientConfig(url, 'service pooler check'),
    query_timeout: 5000,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
