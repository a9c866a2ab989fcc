import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

// `npm run generate`: writes all that is generated from the contract, in the order in which it is needed.

const USAGE = `Usage:
  npm run generate

Writes what is generated from the contract: the OpenAPI document and the types of the client in TypeScript
(npm run openapi), the examples (npm run examples), the pages of the reference (npm run docs), and the models and
the asynchronous half of the client in Python (clients/python/generate.py), which needs python3.
`;

const ROOT = join(import.meta.dirname, '../..');

const STEPS = [
  ['npm', 'run', '-s', 'openapi'],
  ['npm', 'run', '-s', 'examples'],
  ['npm', 'run', '-s', 'docs'],
  ['python3', 'clients/python/generate.py'],
] as const;

function main(words: readonly string[]): number {
  if (words.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (words.length > 0) {
    console.error(`Unexpected argument '${words[0]}'.`);
    return 2;
  }
  for (const [program, ...args] of STEPS) {
    const step = [program, ...args].join(' ');
    console.log(step);
    const { error, status } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' });
    if (error)
      console.error(
        `There is no ${program}: the files of this step are as they were. Later, run: ${step}`,
      );
    if (status !== 0) return status ?? 1;
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
