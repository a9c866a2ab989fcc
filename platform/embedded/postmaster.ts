import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type Postmaster = { readonly pid: number; readonly port: number; readonly ready: boolean };

// postmaster.pid: the process on line 1, its port on line 4, its state on line 8.
export function runningPostmaster(data: string): Postmaster | undefined {
  const [pid, , , port, , , , state] = pidFile(data);
  if (!isServerOf(data, Number(pid))) return undefined;
  return { pid: Number(pid), port: Number(port), ready: state?.trim() === 'ready' };
}

// The file a crash left is the server's own to judge, by its shared memory, except where its number
// now belongs to an unrelated process: then the server would refuse to start for ever.
export function removeMisleadingPid(data: string): void {
  const pid = Number(pidFile(data)[0]);
  if (pid > 0 && isAlive(pid) && !isServerOf(data, pid))
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

// After a reboot or in a new container the number may belong to any other process. The command line
// is what everyone may read, and a zombie has none.
export function isServerOf(data: string, pid: number): boolean {
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

export async function stopPostmaster(data: string, pid: number): Promise<void> {
  const patience = Date.now() + 30_000;
  signal(pid, 'SIGINT');
  while (isServerOf(data, pid)) {
    // Immediate shutdown: safe, but the next start has to recover.
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
