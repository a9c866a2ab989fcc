import type { Test } from 'tap';
import { startService } from '../../support/service.ts';
import { COMPILER_TIMEOUT_MS, type Command, testGeneratedClient } from './project.ts';

/** Options for a JVM that runs for seconds: the compiler of hot code costs more than it saves. */
export const SHORT_RUN = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'] as const;

interface Client {
  /** The language's name in the folder `openapi-generator-…` and in titles. */
  language: string;
  /** The environment variable that names what the language needs; `.ci/run` sets it. */
  variable: string;
  /**
   * Returns the commands that compile the client and the program, and the one that runs the program,
   * from the value of `variable`.
   */
  commands: (value: string) => { compile: readonly Command[]; program: Command };
}

/**
 * Declares the test of OpenAPI Generator's client in a language. It is skipped, and says so, where
 * the generator (`OPENAPI_GENERATOR`, a jar) or what the language needs is missing.
 */
export function testOpenApiGenerator(t: Test, { language, variable, commands }: Client): void {
  const missing = ['OPENAPI_GENERATOR', variable].find((name) => !process.env[name]);
  const skip = missing ? `${missing} is not set` : false;
  if (skip) console.error(`SKIPPED: OpenAPI Generator's client in ${language}; ${skip}`);

  t.setTimeout(COMPILER_TIMEOUT_MS);
  t.test(`compiles and runs OpenAPI Generator's client in ${language}`, { skip }, async (t) => {
    const { compile, program } = commands(process.env[variable] ?? '');
    const jar = process.env.OPENAPI_GENERATOR ?? '';
    await testGeneratedClient(t, await startService(t), {
      folder: `openapi-generator-${language.toLowerCase()}`,
      // The generators of some languages do not support OpenAPI 3.1.
      document: '/openapi-3.0.json',
      build: [
        ['java', ...SHORT_RUN, '-jar', jar, 'generate', '--config', 'generator.yaml'],
        ...compile,
      ],
      program,
    });
  });
}
