import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 2 ** 30;

// Creates a temporary folder that other accounts can enter: root's PostgreSQL runs under another
// account.
export function temporaryFolder(name: string, within = tmpdir()): { path: string; remove(): void } {
  const path = mkdtempSync(join(within, `${name}-`));
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

// The parent folder for files that are created and deleted by the thousand: in memory if it has
// room, since ext4 checks recently deleted files before it creates a file.
export function inMemory(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
