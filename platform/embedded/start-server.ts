import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './account.ts';
import {
  isServerOfFolder,
  type Postmaster,
  removeMisleadingPid,
  runningPostmaster,
} from './postmaster.ts';

export type Settings = Readonly<Record<string, string | number>>;

const usual: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  jit: 'off',
  // Keeps members' texts out of the server's log: statements and error details contain them.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/** Starts the server and resolves when it is ready. Throws after four failed attempts. */
export async function startServer(
  home: string,
  binaries: string,
  account: Account | undefined,
  settings: Settings,
): Promise<Postmaster> {
  const attempts = 4;
  keepLog(home);
  for (let attempt = 1; ; attempt++) {
    const started = await startOnce(home, binaries, account, settings);
    if (started) return started;
    // Another process took the port, or processes of a killed server still hold its shared memory.
    if (attempt === attempts)
      throw new Error(`The embedded PostgreSQL did not start:\n${logTail(home)}`);
    await sleep(500 * attempt);
  }
}

async function startOnce(
  home: string,
  binaries: string,
  account: Account | undefined,
  settings: Settings,
): Promise<Postmaster | undefined> {
  const data = join(home, 'data');
  removeMisleadingPid(data);
  const all = { ...usual, port: await freePort(), ...settings };
  const log = openSync(logFile(home), 'a', 0o600);
  const server = spawn(
    join(binaries, 'postgres'),
    ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    // `detached`, so that Ctrl-C reaches only the supervisor, which stops the database last.
    {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      detached: true,
      stdio: ['ignore', log, log],
      ...account,
    },
  );
  closeSync(log);
  const failed = new Promise<Error>((resolve) => server.once('error', resolve));
  server.unref();
  if (server.pid === undefined) throw await failed;
  return untilReady(data, () => server.exitCode === null && server.signalCode === null);
}

// Waits without a timeout while the server runs, because recovery after a crash may take long.
async function untilReady(data: string, runs: () => boolean): Promise<Postmaster | undefined> {
  while (runs()) {
    const found = runningPostmaster(data);
    if (found?.ready) return found;
    await sleep(20);
  }
  return undefined;
}

/** Waits until the running server of a data folder is ready; undefined if no server runs. */
export function adopt(data: string): Promise<Postmaster | undefined> {
  const { pid } = runningPostmaster(data) ?? {};
  return untilReady(data, () => pid !== undefined && isServerOfFolder(data, pid));
}

const logFile = (home: string) => join(home, 'log');

/** Keeps the log of the run before, which may say why it ended. */
function keepLog(home: string): void {
  if (existsSync(logFile(home))) renameSync(logFile(home), join(home, 'log.1'));
}

/** The last lines of the server's log; none if the folder is gone. */
export function logTail(home: string): string {
  if (!existsSync(logFile(home))) return '';
  return readFileSync(logFile(home), 'utf8').trim().split('\n').slice(-8).join('\n');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
