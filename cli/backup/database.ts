import { randomBytes } from 'node:crypto';
import type { Config } from '../../platform/config.ts';
import { databaseUrl, embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { withConnection } from '../../platform/postgres/connection.ts';

/**
 * Runs `work` on the database of this service: of `DATABASE_URL`, or of the instance that runs with
 * this `DATA_DIR`. If none runs, the embedded server is started for the time of the work.
 */
export async function withDatabase<Result>(
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'databaseDirectUrl'>,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  if (config.databaseDirectUrl) return work(config.databaseDirectUrl);
  const running = runningUrl(config);
  if (running) return work(running);
  const server = await embeddedPostgres({ dataDir: config.dataDir });
  try {
    return await work(server.url);
  } finally {
    await server.stop();
  }
}

function runningUrl(config: Pick<Config, 'dataDir' | 'databaseUrl'>): string | undefined {
  try {
    return databaseUrl(config);
  } catch {
    return undefined;
  }
}

const ROLE = 'service_loader';

/**
 * Runs `work` on the address of the same database, as a role that owns it and is no superuser: no content of a backup
 * can then run programs or read files of the server. `url` is a superuser's, who owns everything
 * again afterwards.
 */
export async function asPlainOwner<Result>(
  url: string,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const password = randomBytes(24).toString('hex');
  const address = new URL(url);
  const database = address.pathname.slice(1);
  address.username = ROLE;
  address.password = password;
  await withConnection(url, async (client) => {
    await client.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${password}'`);
    await client.query(`ALTER DATABASE ${database} OWNER TO ${ROLE}`);
  });
  try {
    return await work(address.href);
  } finally {
    await withConnection(url, async (client) => {
      await client.query(`REASSIGN OWNED BY ${ROLE} TO CURRENT_USER`);
      await client.query(`DROP OWNED BY ${ROLE}`);
      await client.query(`DROP ROLE ${ROLE}`);
    });
  }
}
