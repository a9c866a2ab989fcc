import t from 'tap';
import { testOpenApiGenerator } from './openapi-generator.ts';

testOpenApiGenerator(t, {
  language: 'Go',
  variable: 'FOREIGN_GO',
  commands: (go) => ({
    compile: [[go, 'build', '-o', 'program', '.']],
    program: ['./program'],
  }),
});
