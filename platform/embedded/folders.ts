import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Account, canUse } from './account.ts';

// Root's database runs as another account, which must be able to walk through the folder (0711)
// without listing it. Parents are made apart: a recursive mkdir would give them the mode as well.
export function makePrivateFolder(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  try {
    mkdirSync(folder, { mode: 0o700 });
    if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

// Where the server's files live: `postgres` in the data folder, or, where the server's account
// cannot get there (root's project below a closed home), a folder of the machine it links to.
export function serverHome(dataDir: string, account: Account | undefined): string {
  const home = join(dataDir, 'postgres');
  if (lstatSync(home, { throwIfNoEntry: false })) {
    if (!existsSync(home))
      throw new Error(`${home} leads nowhere, its database is gone: delete it to begin anew`);
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
