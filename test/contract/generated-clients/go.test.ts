import t from 'tap';
import { startService } from '../../support/service.ts';
import { testGeneratedClient } from './project.ts';

// .ci/run sets this after it has downloaded the modules of oapi-codegen/go.mod.
const go = process.env.FOREIGN_GO ?? '';
const skip = go ? false : 'FOREIGN_GO is not set';
if (skip) console.error('SKIPPED: the generated Go client; FOREIGN_GO is not set');

t.test('a client made by oapi-codegen compiles and works', { skip }, async (t) => {
  await testGeneratedClient(t, await startService(t), {
    folder: 'oapi-codegen',
    // The generator does not support OpenAPI 3.1.
    document: '/openapi-3.0.json',
    build: [
      ['mkdir', 'api'],
      [go, 'tool', 'oapi-codegen', '--config', 'oapi-codegen.yaml', 'openapi.json'],
      [go, 'build', '-o', 'program', '.'],
    ],
    program: ['./program'],
  });
});
