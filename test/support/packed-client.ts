import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

/**
 * Packs the client as it is published, and installs the file into an empty project. `names` are the files of the
 * package. The client is packed from a copy, because each packing builds `dist/` again.
 */
export async function installPackedClient(t: { teardown(end: () => void): unknown }) {
  const { path, remove } = temporaryFolder('package');
  t.teardown(remove);
  const copy = join(path, 'packed');
  const project = join(path, 'project');
  cpSync(join(ROOT, 'client'), join(copy, 'client'), {
    recursive: true,
    filter: (file) => file !== join(ROOT, 'client/dist'),
  });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', path], {
    cwd: join(copy, 'client'),
  });
  const [{ filename, files }] = JSON.parse(stdout);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"type":"module","private":true}');
  const flags = ['--offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, join(path, filename)], { cwd: project });
  return { path: project, names: files.map((file: { path: string }) => file.path) as string[] };
}
