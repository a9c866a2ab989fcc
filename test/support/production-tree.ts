import { execFile } from 'node:child_process';
import { cpSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

/** What a production installation copies. */
export const COPIED = [
  ...['Procfile', 'package.json', 'package-lock.json'],
  ...['cli', 'domain', 'migrations', 'platform', 'projections', 'services', 'web', 'workers'],
];

/** Makes an installation as the documents describe it: built pages, and neither development nor optional packages. */
export async function productionTree(t: { teardown(end: () => void): unknown }): Promise<string> {
  const { path, remove } = temporaryFolder('production');
  t.teardown(remove);
  for (const name of COPIED) cpSync(join(ROOT, name), join(path, name), { recursive: true });
  const modules = join(path, 'node_modules');
  symlinkSync(join(ROOT, 'node_modules'), modules);
  await run(process.execPath, ['cli/build.ts'], { cwd: path });
  rmSync(modules);
  const omitted = ['--omit=dev', '--omit=optional'];
  const flags = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['ci', ...omitted, ...flags], { cwd: path });
  return path;
}
