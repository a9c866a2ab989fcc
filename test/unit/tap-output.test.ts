import t from 'tap';
import { type FileResult, TapOutput } from '../support/tap-output.ts';

function read(tap: string): { results: FileResult[]; rest: string[] } {
  const results: FileResult[] = [];
  const output = new TapOutput((result) => results.push(result));
  for (const line of tap.split('\n')) output.read(line);
  return { results, rest: output.rest() };
}

const passing = `# Subtest: test/a.test.ts
    # Subtest: adds
        ok 1 - should be equal
        1..1
    ok 1 - adds # time=2ms
    1..1
ok 1 - test/a.test.ts # time=9ms
# counts {"total":1,"pass":1,"fail":0,"skip":0,"todo":0,"processor":0.5}
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
# counts {"total":3,"pass":2,"fail":1,"skip":0,"todo":0}
`;

const result = { processor: 0.5, passed: 0, failed: 0, skipped: 0, lines: [], failures: [] };

t.test('keeps no line of a file that passed', async (t) => {
  const { results, rest } = read(`TAP version 14\n${passing}`);
  t.same(results, [{ ...result, file: 'test/a.test.ts', passed: 1 }]);
  t.same(rest, []);
});

t.test('keeps the failures of a file and the titles of its failed tests', async (t) => {
  const [first, second] = read(failing + passing).results;
  t.match(first, { file: 'test/b.test.ts', passed: 2, failed: 1, failures: ['breaks'] });
  const printed = first?.lines.join('\n') ?? '';
  t.match(printed, /# Subtest: breaks\n.*not ok 2 - second[\s\S]*diff: one/);
  t.notMatch(printed, /works|first/);
  t.same(second, { ...result, file: 'test/a.test.ts', passed: 1 });
});

t.test('says which tests are skipped', async (t) => {
  const skipping = passing
    .replace('should be equal', 'draws # SKIP no Chromium found')
    .replace('"pass":1,"fail":0,"skip":0', '"pass":0,"fail":0,"skip":1');
  const { results } = read(skipping);
  const lines = ['skipped: draws # SKIP no Chromium found'];
  t.same(results, [{ ...result, file: 'test/a.test.ts', skipped: 1, lines }]);
});

t.test('counts a file without assertions as failed', async (t) => {
  const empty = `# Subtest: test/c.test.ts
    1..0 # no tests found
ok 1 - test/c.test.ts # SKIP no tests found
# counts {"total":0,"pass":0,"fail":0,"skip":0,"todo":0,"processor":0.5}`;
  const lines = ['not ok - test/c.test.ts has no tests'];
  t.same(read(empty).results, [{ ...result, file: 'test/c.test.ts', failed: 1, lines }]);
});

t.test('returns what a process printed for a file that did not end', async (t) => {
  const { results, rest } = read(failing.replace(/not ok 2 - test[\s\S]*/, ''));
  t.same(results, []);
  t.match(rest.join('\n'), 'not ok 2 - second');
});
