import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedPostgres, embeddedPostgres } from '../platform/embedded/postgres.ts';
import type { Settings } from '../platform/embedded/start-server.ts';
import { withConnection } from '../platform/postgres/connection.ts';
import { hasYielded } from '../platform/postgres/errors.ts';

/** An embedded PostgreSQL and its data folder. */
export interface Server extends EmbeddedPostgres {
  dataDir: string;
}

/** Not part of a copy: the process, and WAL, which the copy gets from its primary. */
const LEFT_OUT = ['pg_wal', 'postmaster.pid', 'postmaster.opts'];

/**
 * Starts a standby of `primary`, called `name`, on a copy of its data in the new folder `dataDir`;
 * resolves when it streams. The primary must keep its WAL (`wal_keep_size`) until then.
 */
export async function startStandby(
  primary: Server,
  dataDir: string,
  name: string,
  settings: Settings = {},
): Promise<Server> {
  await copyData(primary, dataDir);
  const data = join(dataDir, 'postgres', 'data');
  const { hostname, port, username, password } = new URL(primary.url);
  const parts = `host=${hostname} port=${port} user=${username} password=${password}`;
  // The last setting of a name counts.
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = '${parts} application_name=${name}'\nsynchronous_standby_names = ''\n`,
  );
  writeOwned(join(data, 'standby.signal'), '', data);
  const standby = await embeddedPostgres({ dataDir, settings });
  await until(
    primary,
    `SELECT FROM pg_stat_replication
     WHERE application_name = '${name}' AND state = 'streaming'`,
  );
  return { ...standby, dataDir };
}

/** One address with the hosts of all these servers, which have the same accounts. */
export const severalHosts = (servers: readonly Pick<Server, 'url'>[]): string =>
  servers
    .map(({ url }) => url)
    .reduce((all, url) => all.replace(/@[^/]*/, `$&,${new URL(url).host}`));

/** Makes every commit of `primary` wait for the standby `name`. */
export async function waitForStandby(primary: Server, name: string): Promise<void> {
  await withConnection(primary.url, async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await client.query('SELECT pg_reload_conf()');
  });
  await until(primary, `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`);
}

/** Promotes a standby that is running; resolves when it accepts writes. */
export async function promote({ url }: Server): Promise<void> {
  for (let promoted = false; !promoted; )
    promoted = await withConnection(url, (client) =>
      client.query('SELECT pg_promote(true, 60)'),
    ).then(
      () => true,
      // Recovery may cancel the statement while it replays what was received.
      (error: unknown) => {
        if (!hasYielded(error)) throw error;
        return false;
      },
    );
}

/** Copies the files of a running server, by its own protocol for backups. */
async function copyData({ url, dataDir: from }: Server, to: string): Promise<void> {
  const [source, target] = [realpathSync(join(from, 'postgres')), join(to, 'postgres')];
  mkdirSync(to, { mode: 0o711 });
  chmodSync(to, 0o711);
  mkdirSync(target, { mode: 0o711 });
  chmodSync(target, 0o711);
  for (const file of readdirSync(source))
    if (file !== 'data' && file !== 'log') spawnSync('cp', ['-a', join(source, file), target]);
  const [data, copy] = [join(source, 'data'), join(target, 'data')];
  makeOwned(copy, data);
  await withConnection(url, async (client) => {
    await client.query(`SELECT pg_backup_start('standby', true)`);
    const files = readdirSync(data).filter((file) => !LEFT_OUT.includes(file));
    // Files that vanish meanwhile are made again from the WAL.
    spawnSync('cp', ['-a', ...files.map((file) => join(data, file)), copy]);
    makeOwned(join(copy, 'pg_wal'), data);
    const { rows } = await client.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop(false)',
    );
    writeOwned(join(copy, 'backup_label'), rows[0]?.labelfile ?? '', data);
  });
}

function makeOwned(folder: string, like: string): void {
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, statSync(like).uid, statSync(like).gid);
}

function writeOwned(file: string, text: string, like: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  chownSync(file, statSync(like).uid, statSync(like).gid);
}

async function until({ url }: Server, statement: string): Promise<void> {
  await withConnection(url, async (client) => {
    while ((await client.query(statement)).rowCount === 0) await sleep(20);
  });
}
