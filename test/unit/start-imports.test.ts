import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const IMPORT = /^(?:import|export)\s(?!type\b)(?:[^;']*\sfrom\s)?'([^']+)'/gm;

/** The files and the packages that the start of a program imports, itself or through its files. */
function importsAtStart(program: string): { files: Set<string>; packages: Set<string> } {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const left = [program];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, from = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)) {
      if (from.endsWith('.ts')) left.push(join(file, '..', from));
      else if (!from.startsWith('.')) packages.add(from);
    }
  }
  return { files: seen, packages };
}

function packagesAtStart(program: string): Set<string> {
  const { files, packages } = importsAtStart(program);
  t.ok(files.size > 100, `${files.size} files of ${program}`);
  return packages;
}

t.test('no process loads at its start what only some requests need', async (t) => {
  for (const program of [
    'services/web.ts',
    'workers/worker.ts',
    'cli/doctor/diagnose.ts',
    'services/compose.ts',
  ]) {
    const packages = packagesAtStart(program);
    t.ok(packages.has('zod'), 'finds what is imported');
    for (const name of ['esbuild', 'marked'])
      t.notOk(packages.has(name), `${program} loads ${name} where it is used`);
    const sdks = [...packages].filter((name) => /^@(modelcontextprotocol|a2a-js)\//.test(name));
    t.same(sdks, [], `${program} loads the SDKs on the first request`);
  }
});

t.test('a command that sends no job starts without the job queue', async (t) => {
  for (const program of [
    'cli/backup/create.ts',
    'cli/backup/verify-backup.ts',
    'services/features.ts',
    'services/compose.ts',
  ])
    t.notOk(packagesAtStart(program).has('pg-boss'), program);
});

t.test('only a web process loads Express and the handlers', async (t) => {
  const PROGRAMS = ['workers/worker.ts', 'services/compose.ts', 'cli/backup/create.ts'];
  for (const program of PROGRAMS) t.notOk(packagesAtStart(program).has('express'), program);
  t.ok(packagesAtStart('services/web.ts').has('express'));
});

t.test('a command prints its usage before it loads what does its work', async (t) => {
  const OF_DATA = ['backup', 'export-public', 'import', 'rebuild', 'verify'];
  for (const command of ['doctor', 'members', 'moderator', ...OF_DATA]) {
    const { files } = importsAtStart(`cli/${command}.ts`);
    t.ok(files.has('platform/command-line/arguments.ts'), `${command} parses its arguments`);
    t.notOk(files.has('services/features.ts'), `${command} loads the capabilities when it works`);
  }
});
