import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = join(import.meta.dirname, '../test/tools/node_modules');

/** Why a test or a text is left out where `findTool` found nothing. */
export const NO_TOOLS = 'test/tools is not installed: npm run tools';

/** The path of a file of a package that `npm run tools` installs; undefined without it. */
export function findTool(path: string): string | undefined {
  const file = join(PACKAGES, path);
  return existsSync(file) ? file : undefined;
}
