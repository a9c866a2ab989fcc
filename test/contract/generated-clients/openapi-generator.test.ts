import t from 'tap';
import { startService } from '../../support/service.ts';
import { type Command, IMPORT_ALL, testGeneratedClient } from './project.ts';

// .ci/run downloads the generator, which needs Java, and what the clients of each language need.
const { OPENAPI_GENERATOR = '', FOREIGN_GO: go = '', FOREIGN_PYTHON: python = '' } = process.env;

/** Why the client in a language is skipped that needs the value of `variable`; false if it is set. */
function skipWithout(language: string, variable: string): { skip: string | false } {
  const missing = ['OPENAPI_GENERATOR', variable].find((name) => !process.env[name]);
  if (!missing) return { skip: false };
  console.error(`SKIPPED: OpenAPI Generator's client in ${language}; ${missing} is not set`);
  return { skip: `${missing} is not set` };
}

// The compiler of hot code costs more than it saves in a run of three seconds.
const generate: Command = [
  ...(['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-jar', OPENAPI_GENERATOR] as const),
  ...['generate', '--config', 'generator.yaml'],
];
// The generators of some languages do not support OpenAPI 3.1.
const document = '/openapi-3.0.json';

const service = await startService(t);

t.test('compiles and runs a client in Go', skipWithout('Go', 'FOREIGN_GO'), async (t) => {
  await testGeneratedClient(t, service, {
    folder: 'openapi-generator-go',
    document,
    build: [generate, [go, 'build', '-o', 'program', '.']],
    program: ['./program'],
  });
});

t.test('imports and runs one in Python', skipWithout('Python', 'FOREIGN_PYTHON'), async (t) => {
  await testGeneratedClient(t, service, {
    folder: 'openapi-generator-python',
    document,
    build: [generate, [python, '-c', IMPORT_ALL]],
    program: [python, 'main.py'],
  });
});
