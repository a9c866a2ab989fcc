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

/** Ticks of a second in `/proc/PID/stat`, on every Linux. */
const TICKS = 100;

/** Milliseconds of processor that a process has used, to 10 ms; not a number if /proc does not have it. */
export function readProcessorMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The fields after the name, which may contain spaces, begin with the third.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
  } catch {
    return Number.NaN;
  }
}
