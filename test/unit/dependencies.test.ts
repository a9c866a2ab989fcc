import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

type Lock = { packages: Record<string, { hasInstallScript?: true; resolved?: string }> };

for (const folder of ['', 'test/tools/'])
  t.test(`allows only the listed packages of ${folder}package.json to run install scripts`, (t) => {
    const { packages } = read(`${folder}package-lock.json`) as Lock;
    const paths = Object.keys(packages);
    t.same(
      paths.filter((path) => path.includes('node_modules/@scarf/')),
      [],
    );
    const names = (path: string) => path.split('node_modules/').at(-1) ?? '';
    const scripted = paths.filter((path) => packages[path]?.hasInstallScript).map(names);
    t.same(
      [...new Set(scripted)].sort(),
      Object.keys(read(`${folder}package.json`).allowScripts).sort(),
    );
    t.end();
  });

t.test('installs for the tests neither a corpus of mails nor generators of CI', (t) => {
  const names = Object.keys((read('package-lock.json') as Lock).packages).map((path) =>
    path.split('node_modules/').at(-1),
  );
  for (const name of Object.keys(read('test/tools/package.json').dependencies))
    if (name !== 'typescript') t.notOk(names.includes(name), name);
  t.end();
});
