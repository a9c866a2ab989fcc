import { join } from 'node:path';
import t from 'tap';
import { testOpenApiGenerator } from './openapi-generator.ts';

testOpenApiGenerator(t, {
  language: 'Rust',
  // A target folder of cargo with the dependencies in openapi-generator-rust/Cargo.lock.
  variable: 'FOREIGN_RUST',
  commands: (target) => ({
    compile: [['cargo', 'build', '--quiet', '--offline', '--locked', '--target-dir', target]],
    program: [join(target, 'debug/program')],
  }),
});
