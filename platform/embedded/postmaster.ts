import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type Postmaster = { readonly pid: number; readonly port: number; readonly ready: boolean };

/**
 * The running server of a data folder, by postmaster.pid: the process id on line 1, the port on
 * line 4, the state on line 8.
 */
export function runningPostmaster(data: string): Postmaster | undefined {
  const [pid, , , port, , , , state] = pidFile(data);
  if (!isServerOfFolder(data, Number(pid))) return undefined;
  const ready = state?.trim() === 'ready' || state?.trim() === 'standby';
  return { pid: Number(pid), port: Number(port), ready };
}

/**
 * Removes postmaster.pid if its process id now belongs to an unrelated process, since the server
 * would never start. In all other cases the server judges a leftover file itself, by its shared
 * memory.
 */
export function removeMisleadingPid(data: string): void {
  const pid = Number(pidFile(data)[0]);
  if (pid > 0 && isAlive(pid) && !isServerOfFolder(data, pid))
    rmSync(join(data, 'postmaster.pid'), { force: true });
}

function pidFile(data: string): string[] {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Whether a process is the server of this data folder; after a reboot or in a new container, its id
 * may belong to another process. Checks the command line, which every account can read and a zombie
 * lacks.
 */
export function isServerOfFolder(data: string, pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  return commandLine(pid).includes(` -D ${data} `);
}

function commandLine(pid: number): string {
  if (process.platform === 'linux')
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  return spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout ?? '';
}

/** Stops the server by a fast shutdown, after 30 s by an immediate one, and waits for its end. */
export async function stopPostmaster(data: string, pid: number): Promise<void> {
  const patience = Date.now() + 30_000;
  signal(pid, 'SIGINT');
  while (isServerOfFolder(data, pid)) {
    // An immediate shutdown is safe, but the next start must run recovery.
    if (Date.now() > patience) signal(pid, 'SIGQUIT');
    await sleep(20);
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

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
