import type { Config } from '../../platform/config.ts';
import { databaseUrl, embeddedPostgres } from '../../platform/embedded/postgres.ts';

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
