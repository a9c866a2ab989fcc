import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
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
  /** Whether the service has answered that the member exists. */
  registered?: true;
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
/** Files of a key store, and what a killed process may have left beside them. */
const OWN_FILES =
  /^(identity|session|(pending|answered)-[0-9a-f]{32}|cursor-[a-z0-9-]{1,40})\.(json|lock)(\..+)?$/;

/**
 * Opens the folder with a member's keys, which only its owner can read (0700, files 0600). Several processes may
 * use it. Files are replaced whole, so a killed process leaves no half of one. The first file creates the folder;
 * one that other users can read or change is refused.
 */
export function openKeyStore(folder: string) {
  const file = (name: string) => join(folder, `${name}.json`);

  function read<Value>(name: string): Value | undefined {
    const path = file(name);
    if (!existsSync(path)) return undefined;
    refuseAccess(folder, 0o022, 'be changed', 700);
    refuseAccess(path, 0o077, 'be read', 600);
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Value;
    } catch (error) {
      // Node's message would quote a part of the file, which may be a key.
      if (error instanceof SyntaxError) throw new Error(`${path} is not JSON`);
      throw error;
    }
  }

  const create = () => mkdirSync(folder, { recursive: true, mode: 0o700 });

  function write(name: string, value: unknown): void {
    create();
    replaceFile(file(name), JSON.stringify(value));
  }

  /** Runs something while no other process does with the same name. */
  async function exclusive<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
    create();
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
      create();
      const lock = join(folder, `${name}.lock`);
      const taken = takeLock(lock);
      if (taken) process.once('exit', () => rmSync(lock, { force: true }));
      return taken;
    },
    registration: () => read<Registration>('identity'),
    /** Returns the keys of the folder, which the first call creates. */
    create(
      handle: string,
      baseUrl: string,
    ): Promise<{ made: boolean; registration: Registration }> {
      return exclusive('identity', async () => {
        const known = read<Registration>('identity');
        if (known) return { made: false, registration: known };
        const registration = { ...newIdentity(handle), base_url: baseUrl };
        write('identity', registration);
        return { made: true, registration };
      });
    },
    /** Saves that the service has registered the keys. */
    markRegistered(registration: Registration): void {
      if (!registration.registered) write('identity', { ...registration, registered: true });
    },
    /** Removes keys that the service refused to register, so that another handle can be tried. */
    forgetUnregistered(): void {
      if (!read<Registration>('identity')?.registered) rmSync(file('identity'), { force: true });
    },
    progress: (name: string): Progress => read(name) ?? { cursor: null, through: 0 },
    saveProgress: (name: string, progress: Progress) => write(name, progress),

    /**
     * Runs a write that is saved before it is sent. If the process ends without an answer, the same command
     * repeats the same request with the same key. Two processes with the same command take turns, so that each
     * has an effect.
     */
    once<Result>(
      command: readonly unknown[],
      body: () => Promise<unknown>,
      run: (pending: PendingWrite) => Promise<Result>,
      isFinal: (error: unknown) => boolean,
    ): Promise<Result> {
      const name = pendingName(command);
      return exclusive(name, async () => {
        const pending = read<PendingWrite>(name) ?? { key: randomUUID(), body: await body() };
        write(name, pending);
        try {
          const result = await run(pending);
          rmSync(file(name), { force: true });
          return result;
        } catch (error) {
          if (isFinal(error)) rmSync(file(name), { force: true });
          throw error;
        }
      });
    },

    /** Whether a process has begun this write and had no answer. */
    isPending: (command: readonly unknown[]) => existsSync(file(pendingName(command))),

    /** The writes that a process has begun and that had no answer. */
    pendingWrites(): PendingWrite[] {
      const names = existsSync(folder) ? readdirSync(folder) : [];
      return names
        .filter((name) => /^pending-[0-9a-f]{32}\.json$/.test(name))
        .flatMap((name) => read<PendingWrite>(name.replace(/\.json$/, '')) ?? []);
    },

    /** Keeps the answer to a write until the one who asked has it. */
    keepAnswer: (command: readonly unknown[], answer: unknown) =>
      write(answeredName(command), { answer, at: Date.now() }),

    /** The answer that was kept, unless it is older than some milliseconds. */
    answerTo(command: readonly unknown[], milliseconds: number): object | undefined {
      const kept = read<{ answer: object; at: number }>(answeredName(command));
      return kept && Date.now() - kept.at < milliseconds ? kept.answer : undefined;
    },

    dropAnswer: (command: readonly unknown[]) =>
      rmSync(file(answeredName(command)), { force: true }),

    /** Removes the files of an account that was deleted, and the folder unless it has others. */
    forget(): void {
      const left = readdirSync(folder).filter((name) => {
        if (OWN_FILES.test(name)) rmSync(join(folder, name), { force: true });
        return !OWN_FILES.test(name);
      });
      if (left.length === 0) rmdirSync(folder);
    },
  };
}

const hashOf = (command: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(command)).digest('hex').slice(0, 32);

const pendingName = (command: readonly unknown[]): string => `pending-${hashOf(command)}`;
const answeredName = (command: readonly unknown[]): string => `answered-${hashOf(command)}`;

/** Throws where other users of the machine have access to a file or folder. Windows has no such modes. */
function refuseAccess(path: string, bits: number, what: string, mode: number): void {
  if (process.platform === 'win32' || (statSync(path).mode & bits) === 0) return;
  throw new Error(`${path} can ${what} by other users. Run: chmod ${mode} ${path}`);
}

/** Takes a lock file, also one whose process has ended. Returns false while another process has it. */
function takeLock(path: string): boolean {
  while (!linkOwn(path)) {
    const holder = readHolder(path);
    if (holder !== undefined && (isAlive(holder) || !removeDead(path, holder))) return false;
  }
  return true;
}

/** Makes a lock of this process. Returns false if there is one. */
function linkOwn(path: string): boolean {
  // A file that is linked when it is complete: no other process reads a lock without its holder.
  const own = `${path}.${randomUUID()}`;
  try {
    writeFileSync(own, `${process.pid} ${startOf(process.pid)}`, { mode: 0o600 });
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes the lock of a dead process, one process at a time: another may take a new lock meanwhile. */
function removeDead(path: string, holder: string): boolean {
  const removal = `${path}.removal`;
  if (!linkOwn(removal)) {
    const remover = readHolder(removal);
    if (remover !== undefined && !isAlive(remover)) rmSync(removal, { force: true });
    return false;
  }
  try {
    if (readHolder(path) === holder) rmSync(path, { force: true });
    return true;
  } finally {
    rmSync(removal, { force: true });
  }
}

/** The process that has a lock, or undefined when the lock is gone. */
function readHolder(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Whether a process runs. Its id alone may have passed to another one, above all in a container. */
function isAlive(holder: string): boolean {
  const [pid, start = ''] = holder.split(' ');
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const known = startOf(Number(pid));
  return start === '' || known === '' || start === known;
}

/** When a process started, in ticks since the boot; empty where there is no /proc. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may contain spaces.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
