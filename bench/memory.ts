import { readFileSync } from 'node:fs';

/** A process's resident memory in MiB, current and peak; undefined if /proc does not have it. */
export function readMemory(pid: number): { now: number; peak: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const of = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
    return { now: of('VmRSS'), peak: of('VmHWM') };
  } catch {
    return undefined;
  }
}
