import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { limitsTable, referencePages } from '../support/reference-pages.ts';
import { startService } from '../support/service.ts';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const FOLDER = join(DOCS, 'reference');

t.test('the generated reference pages are up to date', async (t) => {
  for (const [name, text] of Object.entries(await referencePages())) {
    const file = join(FOLDER, name);
    if (process.env.UPDATE_DOCS) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, text);
    }
    t.equal(text, readFileSync(file, 'utf8'), `${name}: run \`npm run docs\``);
  }
});

t.test('the page on limits has the limits that the routes declare', async (t) => {
  const { operations } = await startService(t);
  const file = join(DOCS, 'operating', 'limits.md');
  const page = readFileSync(file, 'utf8');
  const parts = page.split(
    /(?<=from the routes\. -->\n)[\s\S]*(?=<!-- End of the generated table)/,
  );
  t.equal(parts.length, 2);
  const text = parts.join(`\n${limitsTable(operations)}\n\n`);
  if (process.env.UPDATE_DOCS) writeFileSync(file, text);
  else t.equal(page, text, 'limits.md: run `npm run docs`');
});
