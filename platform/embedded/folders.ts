import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFolder } from '../private-files.ts';
import { type Account, canUse } from './account.ts';

/**
 * The folder of the server's files: `postgres` in the data folder. If the server's account cannot
 * reach that (the project of root, below a closed home folder), `postgres` links to a new folder in
 * /var/lib or /var/tmp. Throws if an existing folder is gone or out of reach.
 */
export function serverHome(dataDir: string, account: Account | undefined): string {
  const home = join(dataDir, 'postgres');
  if (lstatSync(home, { throwIfNoEntry: false })) {
    if (!existsSync(home))
      throw new Error(`${home} points to a missing database: delete it to start over`);
    if (!canUse(account, '-x', realpathSync(home)))
      throw new Error(`The account of the embedded PostgreSQL cannot reach ${home}`);
    return realpathSync(home);
  }
  makePrivateFolder(home);
  if (canUse(account, '-x', home)) return realpathSync(home);
  const elsewhere = mkdtempSync(
    join(existsSync('/var/lib') ? '/var/lib' : '/var/tmp', 'embedded-postgres-'),
  );
  chmodSync(elsewhere, 0o711);
  rmdirSync(home);
  symlinkSync(elsewhere, home);
  return elsewhere;
}

/**
 * Locks a file and returns a function that unlocks it; undefined if another process holds the lock.
 * The operating system releases SQLite's lock however the process ends, whereas a file with a
 * process id could be stale after a crash.
 */
export function lockFile(file: string): (() => void) | undefined {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    database.close();
    const SQLITE_BUSY = 5;
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}
