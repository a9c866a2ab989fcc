import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a text is in the spool. */
export interface Spooled {
  at: number;
  bytes: number;
}

/**
 * A temporary file for the texts of an import, so that memory holds only what orders them. Only this user can
 * read it, and it has no name: it is gone when the process ends, however that happens.
 */
export function createSpool() {
  const folder = mkdtempSync(join(tmpdir(), 'import-'));
  const path = join(folder, 'texts');
  const file = openSync(path, 'wx+', 0o600);
  rmSync(folder, { recursive: true });
  let end = 0;
  return {
    add(value: unknown): Spooled {
      const bytes = Buffer.from(JSON.stringify(value));
      let written = 0;
      while (written < bytes.length)
        written += writeSync(file, bytes, written, bytes.length - written, end + written);
      const place = { at: end, bytes: bytes.length };
      end += bytes.length;
      return place;
    },
    get({ at, bytes }: Spooled): unknown {
      const buffer = Buffer.alloc(bytes);
      let read = 0;
      while (read < bytes) {
        const count = readSync(file, buffer, read, bytes - read, at + read);
        if (count === 0) throw new Error('the temporary file of the import is cut');
        read += count;
      }
      return JSON.parse(buffer.toString());
    },
    close: () => closeSync(file),
  };
}

export type Spool = ReturnType<typeof createSpool>;
