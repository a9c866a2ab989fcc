import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 2 ** 30;

// Walkable, so that root's PostgreSQL, which runs as another account, can live in it.
export function temporaryFolder(name: string, within = tmpdir()): { path: string; remove(): void } {
  const path = mkdtempSync(join(within, `${name}-`));
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

// For what is made and deleted by the thousand: ext4 looks at whatever was deleted lately before it
// makes a file.
export function inMemory(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
