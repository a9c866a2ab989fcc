import t from 'tap';
import type { Finished } from '../support/file-pool.ts';
import { Progress } from '../support/progress.ts';

const FILES = Array.from({ length: 40 }, (_, number) => `test/${number}.test.ts`);

const finished = (file: string, more: Partial<Finished> = {}): Finished => ({
  file,
  passed: 1,
  failed: 0,
  skipped: 0,
  seconds: 10,
  processor: 1,
  failures: [],
  lines: [],
  before: [],
  ...more,
});

t.test('estimates the time left only once a part of the files has ended', (t) => {
  const printed: string[] = [];
  const progress = new Progress(FILES, {}, (line) => printed.push(line));
  for (const file of FILES) progress.add(finished(file));
  t.match(printed[0], /^\[ 1\/40\] ok test\/0\.test\.ts 10\.0 s/);
  t.match(printed[1], /^\[ 2\/40, \d+ s left\] ok/);
  t.match(printed[39], /^\[40\/40\] ok/);
  t.end();
});

t.test('counts at the end for each reason the tests that were left out', (t) => {
  const printed: string[] = [];
  const progress = new Progress(FILES.slice(0, 2), {}, (line) => printed.push(line));
  const lines = ['skipped: opens a page # SKIP no browser', 'skipped: reads it # SKIP no browser'];
  progress.add(finished('test/0.test.ts', { skipped: 2, lines }));
  const other = ['skipped: calls it from Go # SKIP no Go'];
  progress.add(finished('test/1.test.ts', { skipped: 1, lines: other }));
  progress.end();
  t.same(printed.slice(-3), ['Left out:', '      1 test: no Go', '      2 tests: no browser']);
  t.end();
});
