import t from 'tap';
import { testOpenApiGenerator } from './openapi-generator.ts';

testOpenApiGenerator(t, {
  language: 'Ruby',
  // A Ruby that has typhoeus.
  variable: 'FOREIGN_RUBY',
  commands: (ruby) => ({
    // It loads every file of the client.
    compile: [],
    program: [ruby, '-Iclient/lib', 'main.rb'],
  }),
});
