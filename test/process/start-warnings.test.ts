import { createInterface } from 'node:readline';
import t from 'tap';
import { startProcess } from '../support/processes.ts';

const BEHIND = 'const now = Date.now; Date.now = () => now() - 7_200_000;';

for (const name of ['web', 'worker'] as const)
  t.test(`warns at the start of a ${name} process of a clock that differs`, async (t) => {
    const { child, untilServes } = await startProcess(t, name, ['ignore', 'pipe', 'inherit'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BEHIND)}`,
    });
    const warnings: string[] = [];
    const warned = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on(
        'line',
        (line) => {
          const { level, msg } = JSON.parse(line) as { level: string; msg: string };
          if (level === 'warn') warnings.push(msg);
          if (/clock is/.test(msg)) resolve();
        },
      );
    });
    await Promise.all([untilServes(), warned]);
    t.match(warnings[0], /^The database's clock is 7200\.\d s ahead of that of this machine/);
  });
