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

t.test('what a program leaves behind ends with it', async (t) => {
  const began = Date.now();
  t.equal(await start(LEAVES_ONE_BEHIND).group.ended, 3);
  t.ok(Date.now() - began < 50_000, 'before it would have closed the output itself');
});

t.test('one that falls silent is ended, and that is said', async (t) => {
  const { lines, group } = start(SAYS_ONE_WORD, 1500);
  t.equal(await group.ended, null);
  t.strictSame(lines, ['begun', 'Silent for 1.5 seconds: ended']);
});

t.test('one is stopped from outside', async (t) => {
  const { group } = start(SAYS_ONE_WORD);
  group.stop('SIGTERM');
  t.equal(await group.ended, null);
});

t.test('one that is not there', async (t) => {
  const group = startProcessGroup('/nowhere/at-all', [], {
    silenceMs: 1000,
    line: () => undefined,
  });
  await t.rejects(group.ended, { code: 'ENOENT' });
});
