import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import t from 'tap';

const SCRIPT = `
  import { createEndings } from '${new URL('../../harness/endings.ts', import.meta.url)}';
  const { onEnd, end } = createEndings();
  const told = (what) => () => new Promise((done) => process.stdout.write(what, done));
  onEnd(told('first '));
  onEnd(told('last '));
  await told('begun ')();
  setTimeout(() => {}, 60_000);
  if (process.argv[1] === 'finished') await end().then(end).then(() => process.exit());
`;

for (const [how, signal, status] of [
  ['finished', undefined, 0],
  ['interrupted', 'SIGINT', 130],
  ['terminated', 'SIGTERM', 143],
] as const)
  t.test(`ends tasks in reverse order when the process is ${how}`, async (t) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, how], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (signal) child.stdout.once('data', () => child.kill(signal));
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    t.equal(said, 'begun last first ');
    t.equal(code, status);
  });
