import pg from 'pg';

/** A database can be set up with deadlines for every connection: these keep to none. */
const UNBOUNDED = `SELECT set_config('statement_timeout', '0', false),
  set_config('lock_timeout', '0', false),
  set_config('idle_in_transaction_session_timeout', '0', false)`;

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
