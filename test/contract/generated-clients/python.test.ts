import { join } from 'node:path';
import t from 'tap';
import { startService } from '../../support/service.ts';
import { testGeneratedClient } from './project.ts';

// .ci/run makes this Python from openapi-python-client/requirements.txt; elsewhere it may be missing.
const python = process.env.FOREIGN_PYTHON ?? '';
const skip = python ? false : 'FOREIGN_PYTHON is not set';
if (skip) console.error('SKIPPED: the generated Python client; FOREIGN_PYTHON is not set');

// A module's annotations and defaults are evaluated when Python imports it.
const IMPORT_ALL = `
import client, importlib, pkgutil
for module in pkgutil.walk_packages(client.__path__, 'client.'):
    importlib.import_module(module.name)
`;

t.test('a client made by openapi-python-client imports and works', { skip }, async (t) => {
  await testGeneratedClient(t, await startService(t), {
    folder: 'openapi-python-client',
    document: '/openapi.json',
    build: [
      [
        join(python, '../openapi-python-client'),
        ...['generate', '--path', 'openapi.json', '--config', 'settings.yml'],
        ...['--meta', 'none', '--output-path', 'client', '--fail-on-warning'],
      ],
      [python, '-c', IMPORT_ALL],
    ],
    program: [python, 'main.py'],
  });
});
