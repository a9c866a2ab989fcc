import { existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../platform/config.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

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
  const command = `du -x -d 2 ${folder} | sort -n | tail`;
  if (free < MIN_FREE_BYTES) return bad(text, command);
  return free < LOW_FREE_BYTES && share < LOW_FREE_SHARE ? warn(text, command) : ok(text);
}
