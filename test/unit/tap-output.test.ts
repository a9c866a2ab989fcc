import t from 'tap';
import { TapOutput } from '../support/tap-output.ts';

function read(tap: string): { printed: string; totals: TapOutput['totals'] } {
  const lines: string[] = [];
  const output = new TapOutput((line) => lines.push(line));
  for (const line of tap.split('\n')) output.read(line);
  output.end();
  return { printed: lines.join('\n'), totals: output.totals };
}

const passing = `# Subtest: test/a.test.ts
    # Subtest: adds
        ok 1 - should be equal
        1..1
    ok 1 - adds # time=2ms
    1..1
ok 1 - test/a.test.ts # time=9ms
`;

const failing = `# Subtest: test/b.test.ts
    # Subtest: works
        ok 1 - fine
        1..1
    ok 1 - works
    # Subtest: breaks
        ok 1 - first
        not ok 2 - second
          ---
          diff: one
          ...
        1..2
    not ok 2 - breaks # time=1ms
    1..2
not ok 2 - test/b.test.ts # time=3ms
  ---
  exitCode: 1
  ...
`;

t.test('prints one line for a file that passed', async (t) => {
  const { printed, totals } = read(`TAP version 14\n${passing}\n# { total: 1, pass: 1 }`);
  t.equal(printed, 'ok test/a.test.ts # time=9ms');
  t.same(totals, { passed: 1, failed: 0, skipped: 0 });
});

t.test('prints only the failures of a failing file', async (t) => {
  const { printed, totals } = read(`${failing}${passing}# { total: 4, pass: 3, fail: 1 }`);
  t.match(printed, /# Subtest: breaks\n.*not ok 2 - second[\s\S]*diff: one[\s\S]*exitCode: 1/);
  t.notMatch(printed, /works|first/);
  t.match(printed, /ok test\/a\.test\.ts/);
  t.same(totals, { passed: 3, failed: 1, skipped: 0 });
});

t.test('counts a file without assertions as failed', async (t) => {
  const empty = `# Subtest: test/c.test.ts
    1..0 # no tests found
ok 1 - test/c.test.ts # SKIP no tests found
# { total: 1, pass: 0, skip: 1 }`;
  const { printed, totals } = read(empty);
  t.match(printed, 'not ok 1 - test/c.test.ts');
  t.same(totals, { passed: 0, failed: 1, skipped: 0 });
});
