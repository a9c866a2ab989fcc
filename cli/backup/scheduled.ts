import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { failureLine } from '../../platform/command-line/failure.ts';
import { hasServerBinaries } from '../../platform/embedded/binaries.ts';
import { lockFile } from '../../platform/embedded/folders.ts';
import type { ServerKey } from '../../platform/keys/server-keys.ts';
import { clientConfig, withConnection } from '../../platform/postgres/connection.ts';
import { recordBackup } from '../../services/backups/last-backup.ts';
import { createBackup, type Taken } from './create.ts';
import { checkFolder } from './folder.ts';
import { type Keep, nameOf, prune, publish, removeLeftovers, UNFINISHED } from './retention.ts';
import { verifyBackup, withScratchDatabase } from './verify-backup.ts';

export interface Scheduled {
  taken: Taken;
  name: string;
  /** Whether the backup was restored and rebuilt, too; otherwise every byte was only read back. */
  restored: boolean;
  removed: string[];
}

/**
 * Makes a backup in a folder of backups, verifies it, gives it its name, and then removes the backups beyond `keep`.
 * Records the result in the database. If a step fails or the process is killed, the backups of before stay. Throws if
 * another process works in the folder.
 */
export async function runScheduledBackup(
  url: string,
  folder: string,
  keys: readonly ServerKey[],
  passphrase: string,
  keep: Keep,
  tell: (line: string) => void,
): Promise<Scheduled> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unlock = lockFile(join(folder, '.lock'));
  if (!unlock) throw new Error(`Another process makes a backup in ${folder}`);
  try {
    const made = await createVerified(url, folder, keys, passphrase).catch(async (error) => {
      // On a full disk, what was written keeps others from writing.
      removeLeftovers(folder);
      await record(url, null, tell);
      throw error;
    });
    await record(url, made.taken.manifest.taken_at, tell);
    return { ...made, removed: prune(folder, made.name, keep) };
  } finally {
    unlock();
  }
}

async function createVerified(
  url: string,
  folder: string,
  keys: readonly ServerKey[],
  passphrase: string,
): Promise<Omit<Scheduled, 'removed'>> {
  removeLeftovers(folder);
  const draft = join(folder, UNFINISHED);
  const taken = await createBackup(url, draft, keys, passphrase);
  const backup = await checkFolder(draft, passphrase);
  const restored = hasServerBinaries();
  if (restored) await withScratchDatabase((scratch) => verifyBackup(scratch, draft, backup));
  const name = nameOf(backup.manifest.taken_at);
  publish(folder, name);
  return { taken, name, restored };
}

/** Records a result for the metrics. A backup does not fail because it cannot be recorded. */
async function record(
  url: string,
  takenAt: string | null,
  tell: (line: string) => void,
): Promise<void> {
  try {
    const { text, values } = recordBackup(takenAt);
    await withConnection(clientConfig(url, 'service backup'), (client) =>
      client.query(text, values),
    );
  } catch (error) {
    tell(
      `Warning: the metrics do not have the result of this backup: ${failureLine(error).trim()}`,
    );
  }
}
