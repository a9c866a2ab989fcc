import { readFileSync } from 'node:fs';

/** Of a clock tick of the kernel, which is the same on every Linux. */
const TICKS_PER_SECOND = 100;

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
