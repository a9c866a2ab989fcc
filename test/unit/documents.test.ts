import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  brokenLinks,
  DOCUMENTS,
  headingAnchors,
  missingPaths,
  namedVariables,
  ROOT,
  withoutCodeBlocks,
} from '../support/documents.ts';

/** Pages that list every page of a folder. */
const INDEX = 'docs/README.md';
/** This page names constants as examples. */
const STYLE = 'docs/contributing/style.md';

t.test('every link in the documents leads to a file and a heading', async (t) => {
  t.ok(DOCUMENTS.size > 30, `${DOCUMENTS.size} documents`);
  for (const [path, text] of DOCUMENTS) t.strictSame(brokenLinks(path, text), [], path);
});

t.test('every code path that the documents name exists', async (t) => {
  for (const [path, text] of DOCUMENTS) t.strictSame(missingPaths(text), [], path);
});

t.test(
  'every package file that the documents install has a path that npm takes for a file',
  async (t) => {
    for (const [path, text] of DOCUMENTS) {
      const files = [...text.matchAll(/npm install\b.*?(\S+\.tgz)/g)].map(([, file]) => file);
      // Without a dot before it, `client/name.tgz` is a repository on GitHub.
      for (const file of files) t.match(file, /^\.{0,2}\//, `${path}: ${file}`);
    }
  },
);

t.test('every environment variable that the documents name is read somewhere', async (t) => {
  const files = globSync(
    [
      '{platform,domain,services,cli,test,harness,bench,proof,demo,web,client}/**/*.{ts,tsx}',
      'examples/*/*.mjs',
      '.ci/run',
    ],
    { cwd: ROOT },
  );
  const code = files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
  for (const [path, text] of DOCUMENTS)
    for (const name of new Set(path === STYLE ? [] : namedVariables(text)))
      t.ok(code.includes(name), `${path}: ${name}`);
});

t.test('the index of the documents names every page', async (t) => {
  const index = DOCUMENTS.get(INDEX) ?? '';
  for (const path of DOCUMENTS.keys())
    if (path.startsWith('docs/') && path !== INDEX)
      t.ok(index.includes(`(${path.slice('docs/'.length)})`), path);
});

t.test('every page has one title and is short enough to read', async (t) => {
  for (const [path, text] of DOCUMENTS) {
    t.equal(withoutCodeBlocks(text).match(/^# /gm)?.length, 1, `${path} has one title`);
    const generated = text.startsWith('<!-- Generated');
    if (!generated) t.ok(text.split('\n').length <= 400, `${path} has at most 400 lines`);
  }
  t.ok((DOCUMENTS.get('README.md') ?? '').split('\n').length <= 151, 'README.md');
});

t.test('the checks of the documents find what is wrong', async (t) => {
  t.strictSame(headingAnchors('# A `b`: c_d (e)\n```\n# no heading\n```\n'), ['a-b-c_d-e']);
  const page =
    '[a](nowhere.md) [b](README.md#nothing) [c](#here) [d](https://example.org)\n\n# Here\n';
  t.strictSame(brokenLinks('other.md', page), ['nowhere.md', 'README.md#nothing', '#here']);
  t.strictSame(missingPaths('`platform/sql.ts` `platform/none.ts` `test/{unit,store}/`'), [
    'platform/none.ts',
  ]);
});
