import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';
import { projections } from '../projections/registry.ts';

const root = join(import.meta.dirname, '..');
const files = globSync(['services/**/*.ts', 'projections/**/*.ts', 'workers/**/*.ts'], {
  cwd: root,
}).sort();
const text = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

const imports = new Map(
  files.map((file) => [
    file,
    [...(text.get(file) ?? '').matchAll(/^(?:import|export)\b[^;]*?from '(\.[^']+)'/gm)].map(
      ([, path]) => relative(root, join(root, dirname(file), path ?? '')),
    ),
  ]),
);

const MECHANISMS = [
  'commands',
  'embedded',
  'eventstore',
  'http',
  'jobs',
  'keys',
  'limits',
  'postgres',
  'supervisor',
  'telemetry',
];
const featureOf = (file: string) => {
  const [, folder] = /^services\/([^/]+)\//.exec(file) ?? [];
  return folder && !MECHANISMS.includes(folder) ? folder : undefined;
};
const within = (folder: string) => files.filter((file) => file.startsWith(folder));

t.test(
  'every import is of a file that is there, and no two files import each other in a circle',
  async (t) => {
    const finished = new Set<string>();
    const visit = (file: string, path: string[]): void => {
      if (finished.has(file)) return;
      if (path.includes(file)) {
        t.fail(`a circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
        return;
      }
      for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
      finished.add(file);
    };
    for (const file of files) {
      for (const imported of imports.get(file) ?? []) t.ok(text.has(imported), imported);
      visit(file, []);
    }
  },
);

t.test('the log and the edge know no feature and no projection', async (t) => {
  for (const file of [...within('services/eventstore/'), ...within('services/http/')])
    for (const imported of imports.get(file) ?? [])
      t.notOk(
        featureOf(imported) || imported.startsWith('projections/'),
        `${file} imports ${imported}`,
      );
});

t.test("no feature imports another one's handlers, and no projection a decider", async (t) => {
  for (const file of files)
    for (const imported of imports.get(file) ?? []) {
      const other = featureOf(imported);
      if (!other) continue;
      if (featureOf(file) && featureOf(file) !== other)
        t.notMatch(imported, /\/(handlers|contract)\.ts$/, `${file} imports ${imported}`);
      if (file.startsWith('projections/'))
        t.match(imported, /\/(events|experience|kind)\.ts$/, `${file} imports ${imported}`);
    }
});

t.test('read models are written by their projections alone', async (t) => {
  const tables = projections.flatMap((projection) => projection.tables).join('|');
  const write = new RegExp(`(?:INSERT INTO|UPDATE|DELETE FROM)\\s+(?:${tables})\\b`);
  t.match('DELETE FROM notes', write);
  for (const [file, content] of text)
    if (!file.startsWith('projections/')) t.notMatch(content, write, file);
});

t.test('a file has one subject and at most 250 lines', async (t) => {
  for (const [file, content] of text) {
    t.ok(content.split('\n').length <= 251, file);
    t.notMatch(file, /(utils?|helpers?|common|core|types|constants|index)\.ts$/);
  }
});

/** Where JSON.parse may be called, and why its names need no mending (`services/json-text.ts`). */
const PARSES: Readonly<Record<string, string>> = {
  'services/json-text.ts': 'mends them',
  'services/http/strict-json.ts': 'has them mended',
  'services/a2a/card.ts': 'schemas of its own',
  'services/a2a/dispatcher.ts': 'asks only whether it is a record',
  'services/embedded/binaries.ts': 'a file of a package',
};

t.test('JSON of others is read with the names that it has', async (t) => {
  for (const [file, content] of text)
    t.equal(content.includes('JSON.parse('), file in PARSES, `${file} calls JSON.parse`);
});

/** Top-level folders, and what none of their files may import. */
const FORBIDDEN_IMPORTS: readonly (readonly [folders: readonly string[], forbidden: RegExp])[] = [
  [['services', 'projections', 'workers', 'web', 'client'], /^(test|harness|bench|proof|demo)\//],
  [['harness'], /^(test|bench|proof|demo)\//],
  [['bench', 'proof', 'demo'], /^test\//],
  // The test runner writes its report and ends the process when it is imported outside a test.
  [['services', 'projections', 'workers', 'web', 'client', 'harness'], /^@?tap\b/],
  [['bench', 'proof', 'demo'], /^@?tap\b/],
];

t.test('only tests import tests, and nothing that is shipped imports the harness', async (t) => {
  const wrong: string[] = [];
  for (const [folders, forbidden] of FORBIDDEN_IMPORTS)
    for (const folder of folders) {
      const sources = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root });
      t.ok(sources.length > 0, folder);
      for (const file of sources)
        for (const imported of allImports(file))
          if (forbidden.test(imported)) wrong.push(`${file} imports ${imported}`);
    }
  t.same(wrong, []);
});

/** Every module that a file imports, statically or dynamically; paths are relative to the root. */
function allImports(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(([, path = '']) =>
    path.startsWith('.') ? relative(root, join(root, dirname(file), path)) : path,
  );
}
