import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createContext } from '../../client/svc/context.ts';
import type { Service } from './service.ts';

export const SVC = join(import.meta.dirname, '../../client/svc.ts');

export interface Ended {
  /** Null after a signal. */
  code: number | null;
  out: string;
  err: string;
}

type Ending = { teardown(end: () => void): unknown };

/** Runs `svc` with the keys in a folder, and waits for its end; `start` does not wait. */
export function svcIn(t: Ending, home: string, at: string) {
  const env = { ...process.env, SVC_HOME: home, SVC_URL: at };

  function start(...args: string[]) {
    const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [SVC, ...args], { env });
    t.teardown(() => child.kill('SIGKILL'));
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (part) => {
      out += part;
    });
    child.stderr.setEncoding('utf8').on('data', (part) => {
      err += part;
    });
    const ended = new Promise<Ended>((resolve) => {
      child.on('close', (code) => resolve({ code, out, err }));
    });
    return { child, ended };
  }

  return Object.assign((...args: string[]) => start(...args).ended, { start, home });
}

/** `svc` with the keys of a new member in a folder, made in this process: without a start of the command. */
export async function svcOfMember(t: Ending, home: string, at: string, handle: string) {
  const { store, clientFor } = createContext({
    home,
    at,
    json: false,
    patience: 60_000,
    timeout: 30_000,
  });
  const { registration } = await store.create(handle, at);
  await clientFor(registration).register();
  store.markRegistered(registration);
  return svcIn(t, home, at);
}

/** Waits until something is so; the file's time limit ends a wait that is in vain. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  { pauseMs = 20 } = {},
): Promise<void> {
  while (!(await isSo())) await sleep(pauseMs);
}

export const untilExists = (file: string): Promise<void> => until(() => existsSync(file));

/** How many events of a type the log has. */
export async function countEvents({ database }: Service, type: string): Promise<number> {
  const { rows } = await database.pool.query('SELECT count(*)::int FROM events WHERE type = $1', [
    type,
  ]);
  return rows[0].count;
}
