import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

export type Account = { readonly uid: number; readonly gid: number };

/**
 * The account to run the server as, because PostgreSQL refuses to run as root. Undefined if this
 * process is not root: the server then runs as the same account. Throws if the data folder belongs
 * to another account.
 */
export function serverAccount(data: string): Account | undefined {
  const self = process.getuid?.();
  const owner = ownerOf(data);
  if (owner && self !== 0 && owner.uid !== self)
    throw new Error(`${data} belongs to another account: start as that one, or set DATA_DIR`);
  if (self !== 0) return undefined;
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return lookUp('postgres') ?? lookUp('nobody') ?? { uid: 65_534, gid: 65_534 };
}

function ownerOf(path: string): Account | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // The path is below a folder that this account cannot enter: that folder's owner counts.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return ownerOf(dirname(path));
    throw error;
  }
}

/**
 * Whether an account may execute (`-x`) or read (`-r`) a path. `test` runs as the account, so that
 * all rules of the file system apply, not only the mode bits.
 */
export function canUse(account: Account | undefined, check: '-x' | '-r', path: string): boolean {
  const run = spawnSync('/bin/sh', ['-c', `test ${check} "$1"`, 'sh', path], {
    cwd: '/',
    ...account,
  });
  return run.status === 0;
}

function lookUp(name: string): Account | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout ?? '', 10),
  );
  return uid && gid ? { uid, gid } : undefined;
}
