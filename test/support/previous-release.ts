import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Release 0.9.0. The next release replaces it. */
const COMMIT = '96294a5f';

const git = (...args: string[]) => spawnSync('git', args, { cwd: ROOT, maxBuffer: 2 ** 28 });

/** Options for `t.test(name, needsHistory(), …)`: reports the test as skipped in a clone without the commit. */
export const needsHistory = () =>
  git('cat-file', '-e', `${COMMIT}^{commit}`).status === 0
    ? {}
    : { skip: `no commit ${COMMIT}, the previous release: git fetch --unshallow` };

const dependenciesOf = (root: string): Record<string, string> =>
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies;

/**
 * Writes the previous release into a folder, with its packages: those of the working tree, if it has all of them in the
 * same version, and otherwise an installation. Returns the folder.
 */
export async function previousRelease(t: {
  teardown(end: () => Promise<void>): unknown;
}): Promise<string> {
  const { path, remove } = temporaryFolder('previous-release');
  t.teardown(async () => remove());
  const archive = git('archive', COMMIT);
  const unpacked = spawnSync('tar', ['x', '-C', path], { input: archive.stdout });
  if (archive.status !== 0 || unpacked.status !== 0)
    throw new Error(`git archive: ${archive.stderr}${unpacked.stderr}`);
  const present = dependenciesOf(ROOT);
  const isPresent = Object.entries(dependenciesOf(path)).every(
    ([name, version]) => present[name] === version,
  );
  if (isPresent) symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  else
    await promisify(execFile)('npm', ['ci', '--omit=dev', '--ignore-scripts'], {
      cwd: path,
    });
  return path;
}
