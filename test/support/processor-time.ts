import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Of a clock tick of the kernel, which is the same on every Linux. */
const TICKS_PER_SECOND = 100;

const ENDS_WITHIN_MS = 5000;

/** Waits until the processes that this one started have ended, since only then their time counts. */
export async function untilChildrenEnd(): Promise<void> {
  const until = performance.now() + ENDS_WITHIN_MS;
  while (children() !== '' && performance.now() < until) await sleep(20);
}

/** The ids of the processes that this one started; empty without /proc. */
function children(): string {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim();
  } catch {
    return '';
  }
}

/**
 * The processor time of this process and of all processes that it has waited for, in seconds. Without
 * /proc, only of this process.
 */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childrenSeconds();
}

function childrenSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name, in parentheses, may have spaces; cutime and cstime are the fields 16 and 17.
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15)
      .map(Number);
    return (user + system) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
