import { globSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { startProcessGroup } from './support/process-group.ts';
import { startSuiteDatabase } from './support/suite-database.ts';
import { TapOutput } from './support/tap-output.ts';

const TIMEOUT = '--timeout=180';

let stopTests: (signal: NodeJS.Signals) => void = () => undefined;
let interrupted = false;
const interrupt = (signal: NodeJS.Signals) => {
  interrupted = true;
  stopTests(signal);
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
// If the reader closes the pipe (`| head`), stop the tests, so that the database stops as well.
process.stdout.once('error', () => interrupt('SIGTERM')).on('error', () => undefined);

async function runTap(env: Record<string, string>, given: string[]): Promise<TapOutput> {
  const output = new TapOutput((line) => console.log(line));
  // One file more than there are cores, since files also wait for the disk and for timeouts.
  const jobs = `--jobs=${Math.min(8, availableParallelism() + 1)}`;
  const args = ['--reporter=tap', jobs, TIMEOUT, ...given];
  const timeout = args.findLast((arg) => arg.startsWith('--timeout=')) ?? TIMEOUT;
  const tap = startProcessGroup('tap', args, {
    env: { ...process.env, ...env },
    // tap ends each file within its timeout, but prints files in order, so allow for two timeouts.
    silenceMs: 2 * 1000 * Number(timeout.replace('--timeout=', '')),
    line: (text) => output.read(text),
  });
  stopTests = tap.stop;
  if (interrupted) stopTests('SIGTERM');
  const code = await tap.ended;
  output.end();
  const { totals } = output;
  if (interrupted || (code !== 0 && totals.failed === 0)) totals.failed++;
  if (totals.passed + totals.failed === 0) totals.failed++;
  return output;
}

/** Replaces each folder among the arguments with all test files below it. */
function expandFolders(args: readonly string[]): string[] {
  return args.flatMap((arg) =>
    statSync(arg, { throwIfNoEntry: false })?.isDirectory()
      ? globSync(`${arg}/**/*.test.ts`).sort()
      : [arg],
  );
}

/** The unit tests need no database, and starting one takes longer than most of them. */
const NO_DATABASE = { url: '', stop: async () => undefined };
const areUnitTests = (paths: readonly string[]): boolean =>
  paths.length > 0 && paths.every((path) => path.startsWith('test/unit/'));

async function main(): Promise<void> {
  const args = expandFolders(process.argv.slice(2));
  const database = areUnitTests(args.filter((arg) => !arg.startsWith('--')))
    ? NO_DATABASE
    : await startSuiteDatabase(process.env.TEST_DATABASE_URL);
  // Hundreds of processes load the same files, so share the compiled code.
  const compiled = temporaryFolder('test-compiled');
  try {
    const env = { TEST_DATABASE_URL: database.url, NODE_COMPILE_CACHE: compiled.path };
    const { passed, failed, skipped } = (await runTap(env, args)).totals;
    if (interrupted) console.log('Interrupted');
    process.exitCode = failed > 0 ? 1 : 0;
    process.once('exit', () => {
      const skips = skipped > 0 ? `, ${skipped} skipped` : '';
      console.log(`${passed} passed, ${failed} failed${skips}`);
    });
  } finally {
    compiled.remove();
    await database.stop();
  }
}

try {
  await main();
} catch (error) {
  console.error(error);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
