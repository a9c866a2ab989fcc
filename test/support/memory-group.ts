import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a control group with a memory limit, of version 2 and of version 1. */
const VERSIONS = [
  {
    root: '/sys/fs/cgroup',
    limits: { 'memory.max': (bytes: number) => bytes, 'memory.swap.max': () => 0 },
    peak: 'memory.peak',
    kills: 'memory.events',
  },
  {
    root: '/sys/fs/cgroup/memory',
    limits: {
      'memory.limit_in_bytes': (bytes: number) => bytes,
      'memory.memsw.limit_in_bytes': (bytes: number) => bytes,
    },
    peak: 'memory.max_usage_in_bytes',
    kills: 'memory.oom_control',
  },
];

export type MemoryGroup = NonNullable<ReturnType<typeof createMemoryGroup>>;

/**
 * Creates a control group whose processes together may use so many bytes, without swap; undefined where this process may
 * not do that. It needs root, and a kernel that gives groups below the root a memory controller.
 */
export function createMemoryGroup(bytes: number) {
  for (const { root, limits, peak, kills } of VERSIONS) {
    const path = join(root, `small-machine-${process.pid}`);
    try {
      mkdirSync(path);
    } catch {
      continue;
    }
    const read = (file: string) => readFileSync(join(path, file), 'utf8');
    try {
      // Without a controller, the file is missing.
      for (const [file, limit] of Object.entries(limits))
        writeFileSync(join(path, file), String(limit(bytes)), { flag: 'r+' });
      read(peak);
    } catch {
      rmdirSync(path);
      continue;
    }
    return {
      /** A process that writes its id to this file joins the group. */
      processes: join(path, 'cgroup.procs'),
      /** The largest memory of the group so far, in bytes. */
      peak: () => Number(read(peak)),
      /** How many processes the kernel has killed because the group had no memory left. */
      kills: () => Number(/^oom_kill (\d+)$/m.exec(read(kills))?.[1]),
      /** Removes the group, whose processes must have ended. */
      remove: () => rmdirSync(path),
    };
  }
  return undefined;
}
