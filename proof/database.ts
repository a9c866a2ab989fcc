import { appendFileSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../harness/free-port.ts';
import { promote, type Server, startStandby, waitForStandby } from '../harness/standby.ts';
import { embeddedPostgres } from '../platform/embedded/postgres.ts';
import { runningPostmaster } from '../platform/embedded/postmaster.ts';
import { continueEpoch } from '../platform/eventstore/log-epochs.ts';
import { withConnection } from '../platform/postgres/connection.ts';

const STANDBY = 'standby';

/** How long a standby is gone before the primary fails: longer than any command, in milliseconds. */
const STANDBY_GONE_MS = 4000;

/** Keeps all of the WAL, because it is searched for secrets. */
const settingsOf = (port: string) => ({ port, max_connections: 200, wal_keep_size: '4GB' });

const homeOf = ({ dataDir }: Pick<Server, 'dataDir'>) => realpathSync(join(dataDir, 'postgres'));

interface Running extends Server {
  port: string;
}

/**
 * Starts PostgreSQL in `folder` with a synchronous standby, which answers reads too; keeps the
 * servers' logs in `logFile`.
 */
export async function startDatabase(folder: string, logFile: string) {
  let count = 0;
  const newDataDir = () => join(folder, `postgres-${++count}`);
  const homes: string[] = [];
  const running = new Set<Running>();
  const add = (server: Running): Running => {
    running.add(server);
    return server;
  };

  async function start({ dataDir, port }: Pick<Running, 'dataDir' | 'port'>): Promise<Running> {
    const server = await embeddedPostgres({ dataDir, settings: settingsOf(port) });
    return add({ ...server, dataDir, port });
  }

  async function addStandby(): Promise<Running> {
    const port = await freePort();
    const server = await startStandby(primary, newDataDir(), STANDBY, settingsOf(port));
    homes.push(homeOf(server));
    const standby = add({ ...server, port });
    await waitForStandby(primary, STANDBY);
    return standby;
  }

  let primary = await start({ dataDir: newDataDir(), port: await freePort() });
  homes.push(homeOf(primary));
  let standby = await addStandby();

  /** Kills all processes of a server with SIGKILL. */
  async function crash(server: Running): Promise<void> {
    const postmaster = runningPostmaster(join(homeOf(server), 'data'));
    if (postmaster) process.kill(postmaster.pid, 'SIGKILL');
    await server.died;
    running.delete(server);
    await server.stop();
    // The next start truncates the log, so save it first.
    appendFileSync(logFile, readFileSync(join(homeOf(server), 'log')));
  }

  /** Kills the primary with SIGKILL and starts it again. */
  async function restart(): Promise<void> {
    await crash(primary);
    primary = await start(primary);
  }

  /**
   * Loses the standby and, `ms` milliseconds after that was noticed, the primary. The standby is
   * started again and promoted, so only what it had received is left.
   */
  async function failOver(ms: number): Promise<void> {
    await crash(standby);
    await sleep(STANDBY_GONE_MS + ms);
    await crash(primary);
    primary = await start(standby);
    await promote(primary);
    standby = await addStandby();
    // As the operator says that the synchronous standby had everything (docs/operating/failover.md).
    await withConnection(primary.url, continueEpoch);
  }

  /** Kills the standby with SIGKILL and starts it again `ms` milliseconds later. */
  async function loseStandby(ms: number): Promise<void> {
    await crash(standby);
    await sleep(ms);
    standby = await start(standby);
    await waitForStandby(primary, STANDBY);
  }

  /** The standby receives everything, but for `ms` milliseconds its readers see nothing new. */
  async function pauseReplay(ms: number): Promise<void> {
    await withConnection(standby.url, async (client) => {
      await client.query('SELECT pg_wal_replay_pause()');
      await sleep(ms);
      await client.query('SELECT pg_wal_replay_resume()');
    });
  }

  async function stop(): Promise<void> {
    for (const server of running) await server.stop();
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  }

  return {
    url: () => primary.url,
    standbyUrl: () => standby.url,
    restart,
    loseStandby,
    pauseReplay,
    failOver,
    stop,
    /** The logs and files of every server that there was. */
    places: () => homes.flatMap((home) => [join(home, 'log'), join(home, 'data')]),
  };
}
