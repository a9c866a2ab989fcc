import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

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
 * Returns the text of a file, which is made with the line that `make` returns if it is missing. Several
 * processes may do so at the same time: `link` publishes exactly one of their files, when it is complete.
 */
export function makeOnce(file: string, make: () => string): string {
  makePrivateFolder(join(file, '..'));
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = openSync(draft, 'wx', 0o600);
  try {
    writeSync(handle, `${make()}\n`);
    fsyncSync(handle);
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(handle);
    rmSync(draft);
  }
  return readFileSync(file, 'utf8');
}
