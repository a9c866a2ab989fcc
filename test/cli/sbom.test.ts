import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
/** Licences that allow to run, copy and change the service without conditions on its own code. */
const LICENCES = [
  '(MIT OR CC0-1.0)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
];

const sbom = async (...args: string[]) =>
  (
    await promisify(execFile)(process.execPath, ['cli/sbom.ts', ...args], {
      cwd: ROOT,
      maxBuffer: 2 ** 24,
    })
  ).stdout;
const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

interface Locked {
  version: string;
  integrity?: string;
  resolved?: string;
  link?: true;
  dev?: true;
  optional?: true;
  devOptional?: true;
}

const packagesOf = (lock: string) => Object.entries<Locked>(read(lock).packages);

t.test('has every package of a production installation, with hash and licence', async (t) => {
  const text = await sbom();
  const { bomFormat, specVersion, components, dependencies } = JSON.parse(text);
  t.same([bomFormat, specVersion], ['CycloneDX', '1.5']);
  const expected = packagesOf('package-lock.json').flatMap(([path, locked]) => {
    const { version, dev, optional, devOptional, link } = locked;
    const isLeftOut = dev || optional || devOptional || link || !path.startsWith('node_modules/');
    return isLeftOut ? [] : [`${path.split('node_modules/').at(-1)}@${version}`];
  });
  const references = components.map((one: { 'bom-ref': string }) => one['bom-ref']);
  t.same(references.sort(), [...new Set(expected)].sort());
  for (const name of Object.keys(read('package.json').dependencies))
    t.ok(
      references.some((one: string) => one.startsWith(`${name}@`)),
      name,
    );
  for (const { 'bom-ref': reference, hashes, purl } of components) {
    t.match(hashes, [{ alg: 'SHA-512', content: /^[0-9a-f]{128}$/ }], reference);
    t.match(purl, /^pkg:npm\//, reference);
  }
  for (const { dependsOn } of dependencies)
    for (const reference of dependsOn) t.ok(references.includes(reference), reference);
  t.equal(await sbom(), text, 'a second run gives the same text');
});

t.test('has only packages under licences that are known', async (t) => {
  const lines = (await sbom('--licences')).trimEnd().split('\n');
  t.ok(lines.length > 100);
  for (const line of lines) t.ok(LICENCES.includes(line.split('\t')[0] ?? ''), line);
});

for (const lock of ['', 'cli/node-24/', 'test/tools/'].map(
  (folder) => `${folder}package-lock.json`,
))
  t.test(`has for every package of ${lock} a hash, and no source beside the registry`, (t) => {
    for (const [path, { integrity, resolved, link }] of packagesOf(lock)) {
      if (!path.includes('node_modules/') || link) continue;
      t.match(integrity, /^sha512-/, path);
      t.notMatch(resolved ?? '', /^(git|file|http:)|github\.com/, path);
    }
    t.end();
  });

t.test('has production packages of exact versions, and none that compiles at installation', (t) => {
  const { dependencies, optionalDependencies } = read('package.json');
  for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
    t.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name);
  for (const [path, locked] of packagesOf('package-lock.json'))
    if (!locked.dev && existsSync(join(ROOT, path, 'binding.gyp'))) t.fail(path);
  t.end();
});
