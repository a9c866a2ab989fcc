import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { referencePages } from '../support/reference-pages.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'reference');

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
