import { relative } from 'node:path';
import t, { type Test } from 'tap';
import { type Finished, runFiles } from '../support/file-pool.ts';
import { findTestFiles, importsAny, shuffle } from '../support/test-files.ts';

const file = (body: string) => `import t from 'tap';\n${body}`;
const PASSES = file(`t.test('passes', async (t) => t.pass('fine'));`);

/** Runs files, which are given as their texts, in this order in one process. */
async function run(t: Test, texts: Record<string, string>): Promise<Record<string, Finished>> {
  const folder = relative('', t.testdir(texts));
  const results: Record<string, Finished> = {};
  await runFiles({
    files: Object.keys(texts).map((name) => `${folder}/${name}`),
    jobs: 1,
    // Long enough for the files that pass, also on a busy machine.
    timeoutMs: 10_000,
    graceMs: 10_000,
    grep: undefined,
    env: { ...process.env, TAP_TIMEOUT: '0' },
    finished: (result) => {
      results[result.file.slice(folder.length + 1)] = result;
    },
  }).ended;
  return results;
}

t.test('counts the assertions of each file, and restores the environment after it', async (t) => {
  const results = await run(t, {
    'one.ts': file(
      `process.env.LEFT_BEHIND = 'x'; t.test('two', async (t) => { t.ok(1); t.ok(2); });`,
    ),
    'other.ts': file(`t.equal(process.env.LEFT_BEHIND, undefined);`),
  });
  t.match(results['one.ts'], { passed: 2, failed: 0, before: [] });
  t.match(results['other.ts'], { passed: 1, failed: 0, before: [/one\.ts$/] });
});

t.test(
  'reports a failure with its file, line and title, and goes on in a new process',
  async (t) => {
    const results = await run(t, {
      'fails.ts': file(`t.test('adds', async (t) => t.equal(1 + 1, 3));`),
      'passes.ts': PASSES,
    });
    t.match(results['fails.ts'], { passed: 0, failed: 1, failures: ['adds'] });
    t.match(results['fails.ts']?.lines.join('\n'), /fails\.ts/);
    t.match(results['fails.ts']?.lines.join('\n'), 'lineNumber: 2');
    t.match(results['passes.ts'], { passed: 1, failed: 0, before: [] });
  },
);

for (const [what, body, said] of [
  [
    'waits in vain',
    `t.test('waits', () => new Promise(() => setInterval(() => {}, 1000)));`,
    /timeout/,
  ],
  ['never returns', `for (;;);`, /hung for 20 s while it ran .*bad\.ts/],
  ['ends its process', `process.exit(3);`, /ended with exit code \d+ while it ran .*bad\.ts/],
  ['cannot be imported', `import './missing.ts';`, /missing\.ts/],
  ['has no tests', ``, /bad\.ts has no tests/],
] as const)
  t.test(`reports only the file that ${what}`, async (t) => {
    const results = await run(t, { 'a.ts': PASSES, 'bad.ts': file(body), 'z.ts': PASSES });
    t.match(results['a.ts'], { passed: 1, failed: 0 });
    t.match(results['bad.ts'], { failed: 1 });
    t.match(results['bad.ts']?.lines.join('\n'), said);
    t.match(results['z.ts'], { passed: 1, failed: 0 });
  });

for (const [what, cause] of [
  ['thrown in a callback', `setImmediate(() => { throw new Error('lost'); });`],
  ['thrown in a microtask', `queueMicrotask(() => { throw new Error('lost'); });`],
  ['of a rejected promise', `void (async () => { await null; throw new Error('lost'); })();`],
] as const)
  t.test(`reports an error ${what} for the test that caused it`, async (t) => {
    const results = await run(t, {
      'handles.ts': file(
        `import { once } from 'node:events';
         t.test('handles', async (t) => {
           const caught = once(process, 'uncaughtException');
           ${cause}
           t.match(await caught, [/lost/]);
         });`,
      ),
      'fails.ts': file(
        `import { setImmediate as turn } from 'node:timers/promises';
         let late;
         t.test('outer', (t) => t.test('inner', () => { ${cause} return new Promise(() => {}); }));
         t.test('past', async () => void new Promise((go) => { late = go; }).then(() => { ${cause} }));
         t.test('next', async () => { late(); for (let turns = 0; turns < 10; turns++) await turn(); });`,
      ),
    });
    t.match(results['handles.ts'], { passed: 1, failed: 0 });
    t.match(results['fails.ts'], { passed: 2, failures: ['outer', 'lost'] });
    const lost = /fails\.ts:(\d+):\d+/;
    const lines = results['fails.ts']?.lines.filter((line) => lost.test(line)) ?? [];
    t.same(
      lines.map((line) => lost.exec(line)?.[1]),
      ['4', '5'],
    );
  });

t.test('finds files by name, folder, pattern and word', async (t) => {
  const here = 'test/unit/file-pool.test.ts';
  for (const word of [here, `./${here}`, 'file-pool', 'test/unit/file-*.test.ts'])
    t.same(findTestFiles([word]), [here], word);
  t.ok(findTestFiles(['test/unit/']).includes(here));
  t.same(findTestFiles([here, 'file-pool']), [here], 'once');
  t.throws(() => findTestFiles(['no-such-word']), /No test file has no-such-word in its path/);
});

t.test('knows which files import another, themselves or through others', async (t) => {
  const service = ['test/support/service.ts'];
  const imports = (file: string) => importsAny(file, service);
  t.ok(imports('test/store/gathered.test.ts'), 'itself');
  t.ok(imports('test/browser/console-still.test.ts'), 'through test/support/console.ts');
  t.notOk(imports('test/store/schema.test.ts'));
  t.notOk(imports('test/unit/file-pool.test.ts'));
});

t.test('repeats the order of a seed', async (t) => {
  const items = Array.from({ length: 50 }, (_, index) => index);
  t.same(shuffle(items, 7), shuffle(items, 7));
  t.notSame(shuffle(items, 7), shuffle(items, 8));
  t.same(
    shuffle(items, 7).toSorted((a, b) => a - b),
    items,
  );
});
