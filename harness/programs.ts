import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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

/** Options for `t.test(name, needs('haproxy'), …)`: reports the test as skipped without the programs. */
export function needs(...programs: readonly string[]): { skip?: string } {
  const missing = programs.filter((program) => !findProgram(program));
  if (missing.length === 0) return {};
  return { skip: `no ${missing.join(', ')} found: install it to run this test` };
}

/**
 * Starts a program that stays in the foreground; resolves when it listens on the port. Its errors
 * and warnings go to `output`: those of this process, a file descriptor, or nowhere.
 */
export async function startProgram(
  name: string,
  args: readonly string[],
  port: string,
  output: 'inherit' | 'ignore' | number = 'inherit',
): Promise<{ kill(): Promise<void> }> {
  // Some programs refuse to run as root; the account of nobody can do all they need.
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn(findProgram(name) ?? name, args, {
    stdio: ['ignore', 'ignore', output],
    ...account,
  });
  const exit = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  while (!(await listens(Number(port)))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    await sleep(20);
  }
  return { kill };
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Finds this machine's Chromium, in CHROMIUM_PATH or PATH; undefined if it has no Chromium. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter);
  const names = [
    'chromium-headless-shell',
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
  ];
  const candidates = [
    ...(env.CHROMIUM_PATH ? [env.CHROMIUM_PATH] : []),
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
  ];
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
