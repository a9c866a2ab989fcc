import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';

const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];

/** The path of an installed program; undefined if it is not installed. */
export function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Options for `t.test(name, needs('haproxy'), …)`: reports the test as skipped without it. */
export const needs = (program: string) =>
  findProgram(program) ? {} : { skip: `no ${program} found: install it to run this test` };

/** Starts a program that stays in the foreground; resolves when it listens on the port. */
export async function startProgram(
  t: Test,
  name: string,
  args: readonly string[],
  port: string,
): Promise<void> {
  // Some programs refuse to run as root; the account of nobody can do all they need.
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn(findProgram(name) ?? name, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    ...account,
  });
  const exit = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  while (!(await listens(Number(port)))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    await sleep(20);
  }
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
