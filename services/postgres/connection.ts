import pg from 'pg';

/** A connection for this work alone: no pool's settings or deadlines hold for it. */
export async function withConnection<Result>(
  config: string | pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(config);
  // One that is lost fails the query that waits.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
