import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '../embedded/folders.ts';

/** A new secret: 64 hex digits. */
export const newSecret = (): string => randomBytes(32).toString('hex');

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
