import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const FILES = [
  '{platform,services,projections,workers,cli,client,harness,web}/**/*.{ts,tsx,css,md}',
  'migrations/*.sql',
  'docs/**/*.md',
];
/** Words that make a sentence hard to read, and what they stand for. */
const REFUSED = /\b(whoever|for ever|be had|in earnest|needs no word)\b/i;
/** Words that make a test title a riddle instead of a sentence about behaviour. */
const REFUSED_IN_TITLES = /^(what|whatever|who|whose|of|nor) |\b(told|at once)\b/i;
/** This page quotes sentences that it advises against. */
const QUOTES = ['docs/contributing/style.md'];

t.test('code, migrations and documents avoid the words that the style refuses', async (t) => {
  const files = globSync(FILES, { cwd: root }).filter((file) => !QUOTES.includes(file));
  t.ok(files.length > 300, `${files.length} files`);
  for (const file of files) {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    for (const [index, line] of lines.entries())
      if (REFUSED.test(line)) t.fail(`${file}:${index + 1}: ${line.trim()}`);
  }
});

t.test('test titles avoid the words that the style refuses', async (t) => {
  const files = globSync('test/{*,*/**}/*.test.ts', {
    cwd: root,
    exclude: (file) => file.includes('node_modules'),
  });
  const titles = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(/\bt\.test\(\s*(['"`])(.+?)\1/g)].map(([, , title = '']) => ({
      file,
      title,
    }));
  });
  t.ok(titles.length > 700, `${titles.length} titles`);
  for (const { file, title } of titles)
    if (REFUSED.test(title) || REFUSED_IN_TITLES.test(title)) t.fail(`${file}: ${title}`);
});
