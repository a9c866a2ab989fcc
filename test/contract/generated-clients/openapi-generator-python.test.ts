import t from 'tap';
import { testOpenApiGenerator } from './openapi-generator.ts';
import { IMPORT_ALL } from './project.ts';

testOpenApiGenerator(t, {
  language: 'Python',
  variable: 'FOREIGN_PYTHON',
  commands: (python) => ({
    compile: [[python, '-c', IMPORT_ALL]],
    program: [python, 'main.py'],
  }),
});
