import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startInstance } from '../../harness/instance.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { DOCUMENTS } from '../support/documents.ts';
import { ALONE, checkCommand, ON_INSTANCE, ROOT, SCRIPTS } from '../support/npm-commands.ts';

t.setTimeout(900_000);

/** Whether CI already runs a command, as a stage or as test files of this suite. */
function runsInCi(name: string): boolean {
  const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8');
  const stages = [...ci.matchAll(/^(?:run_stages|npm run) ([^&\n]+)/gm)];
  if (stages.some(([, names]) => names?.trim().split(' ').includes(name))) return true;
  const files = / test\/run\.ts (.+)$/.exec(SCRIPTS[name] ?? '')?.[1]?.match(/test\/\S+/g) ?? [];
  return files.length > 0 && files.every((file) => globSync(file, { cwd: ROOT }).length > 0);
}

t.test('has a short run in CI for every command that the documents name', async (t) => {
  const text = [...DOCUMENTS.values()].join('\n');
  const names = [...text.matchAll(/\bnpm run\s+(?:-s\s+)?([a-z][a-z:-]*)/g)].map(
    ([, name]) => name,
  );
  t.ok(names.length > 20);
  for (const name of new Set(names)) {
    t.ok(name && SCRIPTS[name], `npm run ${name} exists`);
    if (name && !(name in ON_INSTANCE) && !(name in ALONE))
      t.ok(runsInCi(name), `npm run ${name} has a short run`);
  }
});

t.test('runs the commands of a running instance', async (t) => {
  const folder = temporaryFolder('readme-commands');
  t.teardown(folder.remove);
  const dataDir = join(folder.path, 'data');
  const instance = await startInstance({ dataDir });
  t.teardown(instance.stop);
  const env = {
    DATA_DIR: dataDir,
    BASE_URL: instance.baseUrl,
    BACKUP_PASSPHRASE: 'correct horse battery',
  };
  for (const [name, run] of Object.entries(ON_INSTANCE))
    await t.test(`npm run ${name}`, async (t) => {
      const args = run.args.map((argument) =>
        argument.replace('ADDRESS', instance.baseUrl).replace('FOLDER', folder.path),
      );
      await checkCommand(t, name, { ...run, args }, env);
    });
});
