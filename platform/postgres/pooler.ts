import type pg from 'pg';
import { Client } from './client.ts';
import { backendPid, clientConfig } from './connection.ts';

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

/** Whether a pooler is between the connections of a pool and the server. */
export async function leadsThroughPooler(pool: pg.Pool): Promise<boolean> {
  const client = await pool.connect();
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
