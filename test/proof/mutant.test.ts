import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MUTANTS } from '../../proof/mutant.ts';

const root = join(import.meta.dirname, '..', '..');

for (const [name, edits] of Object.entries(MUTANTS))
  t.test(`what the mutant ${name} takes away stands in the service`, async (t) => {
    for (const { file, text, instead } of edits) {
      const source = readFileSync(join(root, file), 'utf8');
      t.not(source.replace(text, instead), source, file);
    }
  });
