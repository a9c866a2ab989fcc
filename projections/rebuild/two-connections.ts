import type pg from 'pg';
import { destroyConnection } from '../../platform/postgres/client.ts';
import { addressConfig, BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { readEngine } from '../../platform/postgres/engine.ts';

/** Times, keys and bytes are read as text in one form, whichever the role prefers. */
const PLAIN_TEXT = "SET DateStyle = 'ISO'; SET TimeZone = 'UTC'; SET bytea_output = 'hex'";

/**
 * Runs `work` with one connection that projects and one that reads ahead, without the deadline of a request. An
 * interruption cuts both, and its reason is what is thrown.
 */
export async function withTwoConnections<Result>(
  url: string,
  application: string,
  interrupted: AbortSignal | undefined,
  work: (client: pg.Client, reader: pg.Client) => Promise<Result>,
): Promise<Result> {
  const config = addressConfig(url, application);
  try {
    return await withConnection({ ...config, pipeline: true }, (client) =>
      withConnection(config, async (reader) => {
        const cutBoth = () => [client, reader].forEach(destroyConnection);
        interrupted?.addEventListener('abort', cutBoth);
        try {
          interrupted?.throwIfAborted();
          for (const each of [client, reader]) await each.query(PLAIN_TEXT);
          return await work(client, reader);
        } finally {
          interrupted?.removeEventListener('abort', cutBoth);
        }
      }),
    );
  } catch (error) {
    throw interrupted?.aborted ? interrupted.reason : error;
  }
}

/** Plans by index alone: the tables start empty, so a plan that scans them would be wrong after a page. */
export async function planByIndex(client: pg.Client): Promise<void> {
  await client.query(BY_INDEX);
  const { distributed } = await readEngine(client);
  if (distributed) await client.query('SET plan_cache_mode = auto');
  await client.query('SET enable_hashjoin = off; SET enable_mergejoin = off');
}
