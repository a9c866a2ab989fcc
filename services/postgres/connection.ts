import pg from 'pg';

/** A database can be set up with deadlines for every connection: these keep to none. */
const UNBOUNDED = `SELECT set_config('statement_timeout', '0', false),
  set_config('lock_timeout', '0', false),
  set_config('idle_in_transaction_session_timeout', '0', false)`;

/** The server's process that serves a connection, as it was told when the connection began. */
export const backendOf = (client: pg.ClientBase): number =>
  (client as unknown as { processID: number }).processID;

/** At once: the driver tells of an error before it knows that a transaction is open. */
export async function rollBack(client: pg.ClientBase): Promise<void> {
  await client.query('ROLLBACK').catch(() => undefined);
}

/** A connection for this work alone: no deadlines or other settings of a pool hold for it. */
export async function withConnection<Result>(
  config: string | pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(config);
  // One that is lost fails the query that waits.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(UNBOUNDED);
    return await work(client);
  } finally {
    await client.end();
  }
}
