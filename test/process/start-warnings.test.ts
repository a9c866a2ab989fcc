import { once } from 'node:events';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { startProcess } from '../support/processes.ts';

const BEHIND = 'const now = Date.now; Date.now = () => now() - 7_200_000;';

/** Starts a process whose clock is behind, and ends it once it serves; returns its warnings. */
async function warningsOfStart(t: Test, name: 'web' | 'worker'): Promise<string[]> {
  const { child, untilServes } = await startProcess(t, name, ['ignore', 'pipe', 'inherit'], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BEHIND)}`,
  });
  const warnings: string[] = [];
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
  lines.on('line', (line) => {
    const { level, msg } = JSON.parse(line) as { level: string; msg: string };
    if (level === 'warn') warnings.push(msg);
  });
  const closed = once(lines, 'close');
  await untilServes();
  child.kill('SIGTERM');
  await closed;
  return warnings;
}

for (const name of ['web', 'worker'] as const)
  t.test(`warns at the start of a ${name} process of a clock that differs`, async (t) => {
    const [warning] = await warningsOfStart(t, name);
    t.match(warning, /^The database's clock is (7199|7200)\.\d s ahead of that of this machine/);
  });
