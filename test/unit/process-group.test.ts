import t from 'tap';
import { startProcessGroup } from '../support/process-group.ts';

const LEAVES_ONE_BEHIND = `
  require('child_process').spawn('sleep', ['60'], { stdio: 'inherit' });
  process.exit(3);`;
const SAYS_ONE_WORD = `console.log('begun'); setInterval(() => {}, 1000)`;

function start(script: string, silenceMs = 60_000) {
  const lines: string[] = [];
  const line = (text: string) => void lines.push(text);
  return { lines, group: startProcessGroup(process.execPath, ['-e', script], { silenceMs, line }) };
}

t.test('ends the children that a program leaves behind', async (t) => {
  const began = Date.now();
  t.equal(await start(LEAVES_ONE_BEHIND).group.ended, 3);
  t.ok(Date.now() - began < 50_000, 'before the child ends on its own');
});

t.test('kills a silent program and says so', async (t) => {
  const { lines, group } = start(SAYS_ONE_WORD, 1500);
  t.equal(await group.ended, null);
  t.strictSame(lines, ['begun', 'Silent for 1.5 seconds: ended']);
});

t.test('stops a program on request', async (t) => {
  const { group } = start(SAYS_ONE_WORD);
  group.stop('SIGTERM');
  t.equal(await group.ended, null);
});

t.test('rejects when the program does not exist', async (t) => {
  const group = startProcessGroup('/nowhere/at-all', [], {
    silenceMs: 1000,
    line: () => undefined,
  });
  await t.rejects(group.ended, { code: 'ENOENT' });
});
