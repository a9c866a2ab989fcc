import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

// Root's database runs as another account, which must be able to walk through the folder (0711)
// without listing it. Parents are made apart: a recursive mkdir would give them the mode as well.
export function makePrivateFolder(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  try {
    mkdirSync(folder, { mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
