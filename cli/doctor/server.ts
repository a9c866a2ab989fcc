import { existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../platform/config.ts';
import { compareClocks } from '../../platform/postgres/clock.ts';
import {
  findDurabilityFaults,
  findSettingFaults,
} from '../../platform/postgres/database-settings.ts';
import { sql } from '../../platform/sql.ts';
import { bad, type Context, type Finding, ok, orOk, shellWord, warn } from './check.ts';

const OLDEST_MAJOR = 15;
const NEWEST_MAJOR = 18;

/** Checks the version of PostgreSQL, and that it takes writes. */
export async function checkDatabase({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const [server] = await ask(sql<{ version: string; standby: boolean }>`
    SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS standby`);
  const version = server?.version ?? '';
  return orOk(
    [
      versionFinding(version),
      server?.standby &&
        bad(
          'DATABASE_URL leads to a standby, which takes no writes',
          'export DATABASE_URL with the address of the primary, or SELECT pg_promote()',
        ),
    ],
    `PostgreSQL ${version}`,
  );
}

/** What is wrong with a version of PostgreSQL, such as `18.4` or `19beta1`. */
export function versionFinding(version: string): Finding | undefined {
  const major = Number.parseInt(version, 10);
  if (major < OLDEST_MAJOR)
    return bad(`PostgreSQL ${version} is older than ${OLDEST_MAJOR}`, 'pg_upgrade');
  if (major > NEWEST_MAJOR)
    return warn(
      `This release was tested with PostgreSQL up to ${NEWEST_MAJOR}, not with ${version}`,
      'TEST_DATABASE_URL=postgres://… npm test',
    );
  return undefined;
}

/** Checks the settings that a release requires, and those on which an acknowledged write relies. */
export async function checkSettings({ client }: Pick<Context, 'client'>): Promise<Finding[]> {
  const faults = [...(await findSettingFaults(client)), ...(await findDurabilityFaults(client))];
  return orOk(
    faults.map(({ fault, command, isMinor }) => (isMinor ? warn : bad)(fault, command)),
    'Writes are durable, and a release accepts the settings',
  );
}

/** Compares the database's clock, which decides on leases and retention, with that of this machine. */
export async function checkClock({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const { text, differs } = await compareClocks(ask);
  return [
    differs ? warn(`${text}; on the one that is wrong`, 'timedatectl set-ntp true') : ok(text),
  ];
}

const GIB = 2 ** 30;
const MIN_FREE_BYTES = GIB;
/** Less than both is a warning: a share alone is too much on a large disk. */
const LOW_FREE_BYTES = 10 * GIB;
const LOW_FREE_SHARE = 0.1;

/** Checks the disk of DATA_DIR, and that of the embedded PostgreSQL, which may be another one. */
export function checkDisk({ dataDir }: Config): Finding[] {
  const folders = [dataDir, join(dataDir, 'postgres')].filter((folder) => existsSync(folder));
  if (folders.length === 0) return [ok(`DATA_DIR ${dataDir} is not in use`)];
  const disks = new Map(folders.map((folder) => [statSync(folder).dev, realpathSync(folder)]));
  return [...disks.values()].map(freeSpace);
}

function freeSpace(folder: string): Finding {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const share = bavail / blocks;
  const text = `${(free / GIB).toFixed(1)} GiB (${Math.floor(100 * share)} %) of the disk of ${folder} are free`;
  const command = `du -x -d 2 ${shellWord(folder)} | sort -n | tail`;
  if (free < MIN_FREE_BYTES) return bad(text, command);
  return free < LOW_FREE_BYTES && share < LOW_FREE_SHARE ? warn(text, command) : ok(text);
}
