import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The blocks of a guide in this language, as one program. Throws unless there are this many. */
export function guideProgram(guide: string, language: string, blocks: number): string {
  const text = readFileSync(join(ROOT, 'docs/guides', guide), 'utf8');
  const found = text
    .split(/^```/m)
    .filter((_, index) => index % 2 === 1)
    .filter((block) => block.startsWith(`${language}\n`))
    .map((block) => block.slice(language.length + 1));
  if (found.length !== blocks) throw new Error(`${guide} has ${found.length} blocks ${language}`);
  return found.join('\n');
}
