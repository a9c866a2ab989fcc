import { join } from 'node:path';
import t from 'tap';
import { startService } from '../../support/service.ts';
import { type Command, testGeneratedClient } from './project.ts';

const packages = join(import.meta.dirname, '../../../node_modules');
const ownPackages = join(import.meta.dirname, 'node_modules');
const node = (script: string, ...args: string[]): Command => [process.execPath, script, ...args];

const compile = node(
  join(packages, 'typescript/bin/tsc'),
  ...['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'],
  ...['--outDir', 'compiled', 'main.ts'],
);
const program = node('compiled/main.js');

const service = await startService(t);

t.test('a client made by openapi-typescript compiles and works', async (t) => {
  await testGeneratedClient(t, service, {
    folder: 'openapi-typescript',
    document: '/openapi.json',
    build: [
      node(
        join(ownPackages, 'openapi-typescript/bin/cli.js'),
        ...['openapi.json', '--output', 'client/schema.ts'],
      ),
      compile,
    ],
    program,
  });
});

t.test('a client made by @hey-api/openapi-ts compiles and works', async (t) => {
  await testGeneratedClient(t, service, {
    folder: 'hey-api',
    document: '/openapi.json',
    build: [node(join(ownPackages, '@hey-api/openapi-ts/bin/run.js'), '--no-log-file'), compile],
    program,
  });
});

t.test('a client made by orval compiles and works', async (t) => {
  await testGeneratedClient(t, service, {
    folder: 'orval',
    document: '/openapi.json',
    build: [node(join(ownPackages, 'orval/dist/bin/orval.mjs'), '--fail-on-warnings'), compile],
    program,
  });
});
