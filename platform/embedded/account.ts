import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

export type Account = { readonly uid: number; readonly gid: number };

// PostgreSQL refuses to run as root. Undefined: run it as the account we already have.
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
    // Below a folder that is closed to us: its owner's.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return ownerOf(dirname(path));
    throw error;
  }
}

// `test` runs as the account, so that every rule of the file system counts, not only mode bits.
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
