import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Account, canUse } from './account.ts';

/**
 * Creates a folder that only this account can use. As root its mode is 0711, because the database
 * runs as another account, which must traverse the folder but not list it. Parent folders are
 * created in a separate call, since a recursive mkdir would give them the mode as well.
 */
export function makePrivateFolder(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  try {
    mkdirSync(folder, { mode: 0o700 });
    if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

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
