import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

t.test('allows only the listed packages to run install scripts', (t) => {
  const { packages } = read('package-lock.json') as {
    packages: Record<string, { hasInstallScript?: true }>;
  };
  const paths = Object.keys(packages);
  t.same(
    paths.filter((path) => path.includes('node_modules/@scarf/')),
    [],
  );
  const names = (path: string) => path.split('node_modules/').at(-1) ?? '';
  const scripted = paths.filter((path) => packages[path]?.hasInstallScript).map(names);
  t.same([...new Set(scripted)].sort(), Object.keys(read('package.json').allowScripts).sort());
  t.end();
});
