import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Keeper, Session } from '../bearer.ts';
import { replaceFile } from '../file-store.ts';
import { type Identity, newIdentity } from '../identity.ts';

/** A member's keys, and the address of the service where it is registered. */
export interface Registration extends Identity {
  base_url: string;
}

/** Where an agent is in its updates: the last saved page, and the last event that was handled. */
export interface Progress {
  cursor: string | null;
  through: number;
}

/** A write that may have had no answer, to be repeated as it is. */
export interface PendingWrite {
  key: string;
  body: unknown;
}

export type KeyStore = ReturnType<typeof openKeyStore>;

const LOCK_PAUSE_MS = 20;

/**
 * Opens the folder with a member's keys, which only its owner can read (0700, files 0600). Several processes may
 * use it. Files are replaced whole, so a killed process leaves no half of one.
 */
export function openKeyStore(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(folder, `${name}.json`);

  function read<Value>(name: string): Value | undefined {
    return existsSync(file(name))
      ? (JSON.parse(readFileSync(file(name), 'utf8')) as Value)
      : undefined;
  }

  const write = (name: string, value: unknown) => replaceFile(file(name), JSON.stringify(value));

  /** Runs something while no other process does with the same name. */
  async function exclusive<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
    const lock = join(folder, `${name}.lock`);
    while (!takeLock(lock)) await sleep(LOCK_PAUSE_MS);
    try {
      return await run();
    } finally {
      rmSync(lock, { force: true });
    }
  }

  const keeper: Keeper = {
    load: () => read<Session>('session'),
    save: (session) => write('session', session),
    exclusive: (run) => exclusive('session', run),
  };

  return {
    folder,
    keeper,
    exclusive,
    /** Whether a lock is free; takes it until the process ends. */
    holdUntilExit(name: string): boolean {
      const lock = join(folder, `${name}.lock`);
      const taken = takeLock(lock);
      if (taken) process.once('exit', () => rmSync(lock, { force: true }));
      return taken;
    },
    registration: () => read<Registration>('identity'),
    /** Returns the keys of the folder, which the first call creates. */
    create(handle: string, baseUrl: string): Promise<Registration> {
      return exclusive('identity', async () => {
        const known = read<Registration>('identity');
        if (known) return known;
        const made = { ...newIdentity(handle), base_url: baseUrl };
        write('identity', made);
        return made;
      });
    },
    /** Removes keys that could not be registered, so that another handle can be tried. */
    forgetUnregistered: () => rmSync(file('identity'), { force: true }),
    progress: (name: string): Progress => read(name) ?? { cursor: null, through: 0 },
    saveProgress: (name: string, progress: Progress) => write(name, progress),

    /**
     * Runs a write that is saved before it is sent. If the process ends without an answer, the same command
     * repeats the same request with the same key.
     */
    async once<Result>(
      command: readonly unknown[],
      body: () => Promise<unknown>,
      run: (pending: PendingWrite) => Promise<Result>,
      isDefinite: (error: unknown) => boolean,
    ): Promise<Result> {
      const hash = createHash('sha256').update(JSON.stringify(command)).digest('hex').slice(0, 32);
      const name = `pending-${hash}`;
      const pending = read<PendingWrite>(name) ?? { key: randomUUID(), body: await body() };
      write(name, pending);
      try {
        const result = await run(pending);
        rmSync(file(name), { force: true });
        return result;
      } catch (error) {
        if (isDefinite(error)) rmSync(file(name), { force: true });
        throw error;
      }
    },

    /** Removes all keys, for an account that was deleted. */
    forget: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Takes a lock file, also one whose process has ended. Returns false while another process has it. */
function takeLock(path: string): boolean {
  const own = `${path}.${randomUUID()}`;
  writeFileSync(own, String(process.pid), { mode: 0o600 });
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own, { force: true });
  }
  const holder = readHolder(path);
  if (holder === '' || isAlive(Number(holder))) return false;
  // Only one process can move the file away. If another was faster, this is the new lock: put it back.
  const moved = `${path}.${randomUUID()}`;
  try {
    renameSync(path, moved);
    if (readHolder(moved) !== holder) linkSync(moved, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    rmSync(moved, { force: true });
  }
  return false;
}

/** The process that has a lock; empty when the lock is gone. */
function readHolder(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
