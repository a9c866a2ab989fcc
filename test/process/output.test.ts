import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startProcess } from '../support/processes.ts';

// Produces more output than one write takes, so often that output is always pending.
const settings = { LOG_LEVEL: 'trace' };

for (const name of ['web', 'worker'] as const) {
  t.test(`keeps a ${name} process serving when its output is full`, async (t) => {
    if (!existsSync('/dev/full')) return;
    const full = openSync('/dev/full', 'w');
    const { child, serves, untilServes, end } = await startProcess(
      t,
      name,
      ['ignore', full, 'inherit'],
      settings,
    );
    closeSync(full);
    await untilServes();
    await sleep(500);
    t.ok(await serves(), 'the process keeps serving');
    child.kill('SIGTERM');
    t.same(await end(), [0, null]);
  });

  t.test(`ends a ${name} process whose output is closed when asked`, async (t) => {
    const { child, serves, untilServes, end } = await startProcess(t, name, [
      'ignore',
      'pipe',
      'inherit',
    ]);
    await untilServes();
    child.stdout?.destroy();
    t.ok(await serves(), 'the process keeps serving');
    child.kill('SIGTERM');
    t.same(await end(), [0, null]);
  });

  t.test(`ends a ${name} process whose supervisor was killed`, async (t) => {
    const { child, untilServes, end } = await startProcess(t, name, [
      'ignore',
      'pipe',
      'inherit',
      'ipc',
    ]);
    await untilServes();
    child.stdout?.resume();
    await sleep(300);
    child.stdout?.destroy();
    child.disconnect();
    t.same(await end(), [0, null]);
  });
}
