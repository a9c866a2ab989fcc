import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withConnection } from '../postgres/connection.ts';
import { makePrivateFolder } from '../private-files.ts';
import { serverAccount } from './account.ts';
import { serverBinaries } from './binaries.ts';
import { createCluster, SUPERUSER } from './cluster.ts';
import { lockFile, serverHome } from './folders.ts';
import { isServerOfFolder, runningPostmaster, stopPostmaster } from './postmaster.ts';
import { adopt, logTail, type Settings, startServer } from './start-server.ts';

const DATABASE = 'service';

export type EmbeddedPostgres = {
  readonly url: string;
  /** Resolves with the last lines of its log when the server ends without a call of `stop`. */
  readonly died: Promise<string>;
  stop(): Promise<void>;
};

/**
 * Starts a real PostgreSQL under the data folder, for development and tests. This process owns the
 * server until `stop`, and takes over a server that a killed process left running. Throws if
 * another process uses the folder or the server does not start.
 */
export async function embeddedPostgres(options: {
  readonly dataDir: string;
  readonly settings?: Settings;
}): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  makePrivateFolder(dataDir);
  const account = serverAccount(join(dataDir, 'postgres', 'data'));
  const unlock = lockFile(join(dataDir, 'postgres.lock'));
  if (!unlock)
    throw new Error(
      `Already running with DATA_DIR ${dataDir}: stop that one first, or set another DATA_DIR and PORT`,
    );
  try {
    const home = serverHome(dataDir, account);
    const data = join(home, 'data');
    const { pid, port } =
      (await adopt(data)) ?? (await startAfresh(home, account, options.settings));
    const url = address(home, port, DATABASE);
    await ensureDatabase(address(home, port, 'postgres'));
    const watch = watchFor(() => !isServerOfFolder(data, pid));
    return {
      url,
      died: watch.happened.then(() => logTail(home)),
      async stop() {
        watch.end();
        await stopPostmaster(data, pid);
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** The database URL for commands beside a running instance. Throws if no instance is running. */
export function databaseUrl(config: {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
}): string {
  if (config.databaseUrl) return config.databaseUrl;
  const link = join(config.dataDir, 'postgres');
  const home = existsSync(link) ? realpathSync(link) : link;
  const running = runningPostmaster(join(home, 'data'));
  if (!running?.ready)
    throw new Error(
      `No instance runs with DATA_DIR ${config.dataDir}: begin one with npm start, or set DATABASE_URL`,
    );
  return address(home, running.port, DATABASE);
}

async function startAfresh(
  home: string,
  account: ReturnType<typeof serverAccount>,
  settings: Settings = {},
) {
  const binaries = serverBinaries(home, account);
  await createCluster(home, binaries, account);
  return startServer(home, binaries, account, settings);
}

const address = (home: string, port: number, database: string) =>
  `postgres://${SUPERUSER}:${readFileSync(join(home, 'password'), 'utf8')}@127.0.0.1:${port}/${database}`;

async function ensureDatabase(url: string): Promise<void> {
  await withConnection(url, async (client) => {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
}

function watchFor(condition: () => boolean): { happened: Promise<void>; end(): void } {
  let timer: NodeJS.Timeout | undefined;
  const happened = new Promise<void>((resolve) => {
    timer = setInterval(() => {
      if (!condition()) return;
      clearInterval(timer);
      resolve();
    }, 250);
    timer.unref();
  });
  return { happened, end: () => clearInterval(timer) };
}
