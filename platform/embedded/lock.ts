import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

// The operating system drops SQLite's lock with the process, however it ends; a file that names a
// process would have to be judged after every crash. Undefined: someone else holds it.
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
