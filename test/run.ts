import { randomInt } from 'node:crypto';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runFiles } from './support/file-pool.ts';
import { processorSeconds, untilChildrenEnd } from './support/processor-time.ts';
import { Progress, readDurations, writeDurations } from './support/progress.ts';
import { startSuiteDatabase } from './support/suite-database.ts';
import type { Counts } from './support/tap-output.ts';
import { findTestFiles, importsAny, shuffle } from './support/test-files.ts';

const CACHE = join(import.meta.dirname, '../node_modules/.cache');
const DURATIONS = join(CACHE, 'test-durations.json');
/** Compiled code, which the processes of a run share, and the runs. */
const COMPILED = join(CACHE, 'test-compiled');
// These wait for processes and timeouts, so they start first, beside others that compute.
const SLOW = /^test\/(cli|fault|process|walk)\//;
const SLOW_SECONDS = 40;
const MAX_JOBS = 8;
/** A process with its files, its connections and its browser, in bytes. */
const JOB_MEMORY = 2 ** 30;

const defaultJobs = () =>
  Math.max(1, Math.min(MAX_JOBS, 3 * availableParallelism(), Math.floor(totalmem() / JOB_MEMORY)));

let stopTests: (signal: NodeJS.Signals) => void = () => undefined;
let interrupted = false;
const interrupt = (signal: NodeJS.Signals) => {
  interrupted = true;
  stopTests(signal);
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
// If the reader closes the pipe (`| head`), stop the tests, so that the database stops as well.
process.stdout.once('error', () => interrupt('SIGTERM')).on('error', () => undefined);

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      // Seconds for a file, and how many run at the same time.
      timeout: { type: 'string', default: '600' },
      // Most files mostly wait: of two cores, four processes keep 1.31 busy, and six 1.65.
      jobs: { type: 'string', default: String(defaultJobs()) },
      // Runs only the tests with this word in their title.
      grep: { type: 'string' },
      // Runs only the files that import one of these, themselves or through others.
      importing: { type: 'string', multiple: true, default: [] },
      // Leaves these files out.
      except: { type: 'string', multiple: true, default: [] },
    },
  });
  const { importing, except } = values;
  const left = new Set(findTestFiles(positionals));
  for (const file of except)
    if (!left.delete(file)) throw new Error(`--except=${file} is not one of the files to run`);
  const files = [...left].filter((file) => importing.length === 0 || importsAny(file, importing));
  const jobs = Math.min(Number(values.jobs), files.length);
  return { files, jobs, timeoutMs: 1000 * Number(values.timeout), grep: values.grep };
}

/**
 * A random order, but the slow files first, and the slowest of them before the others. `TEST_SEED` repeats
 * it, and 0 keeps the given order.
 */
function order(files: string[], durations: Record<string, number>): string[] {
  const seed = Number(process.env.TEST_SEED ?? randomInt(1, 1_000_000));
  if (files.length < 2 || seed === 0) return files;
  console.log(`Order of the files: TEST_SEED=${seed}`);
  const expected = (file: string) => durations[file] ?? 0;
  const isSlow = (file: string) => SLOW.test(file) || expected(file) > SLOW_SECONDS;
  const shuffled = shuffle(files.toSorted(), seed);
  return [
    ...shuffled.filter(isSlow).sort((a, b) => expected(b) - expected(a)),
    ...shuffled.filter((file) => !isSlow(file)),
  ];
}

/** The unit tests need no database, and starting one takes longer than most of them. */
const NO_DATABASE = { url: '', stop: async () => undefined };
const isUnitTest = (file: string) => file.startsWith('test/unit/');

async function main(): Promise<Counts> {
  const { files, ...options } = readArguments();
  const durations = readDurations(DURATIONS);
  const ordered = order(files, durations);
  const progress = new Progress(ordered, durations, (line) => console.log(line));
  const database = files.every(isUnitTest)
    ? NO_DATABASE
    : await startSuiteDatabase(process.env.TEST_DATABASE_URL);
  try {
    const pool = runFiles({
      ...options,
      files: interrupted ? [] : ordered,
      env: {
        ...process.env,
        TEST_DATABASE_URL: database.url,
        NODE_COMPILE_CACHE: COMPILED,
        TAP_TIMEOUT: '0', // each file has its own
        TAP_FILTER_QUIETLY: '1',
      },
      finished: (result) => progress.add(result),
    });
    stopTests = pool.stop;
    await pool.ended;
  } finally {
    await database.stop();
  }
  await untilChildrenEnd();
  progress.end();
  if (files.length > 1) console.log(processorLine());
  if (options.grep === undefined) writeDurations(DURATIONS, durations);
  if (interrupted) console.log('Interrupted');
  const { totals } = progress;
  const failed = Math.max(
    totals.failed,
    interrupted || totals.passed + totals.failed === 0 ? 1 : 0,
  );
  return { ...totals, failed };
}

/** What the run cost, with PostgreSQL and browsers, and how many cores were busy. */
function processorLine(): string {
  const processor = processorSeconds();
  const seconds = performance.now() / 1000;
  return `Processor: ${processor.toFixed(0)} s in ${seconds.toFixed(0)} s, ${(processor / seconds).toFixed(2)} of ${availableParallelism()} cores`;
}

const totals = await main().catch((error): Counts => {
  console.error(error);
  return { passed: 0, failed: 1, skipped: 0 };
});
process.exitCode = totals.failed > 0 ? 1 : 0;
process.once('exit', () => {
  const skips = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
  console.log(`${totals.passed} passed, ${totals.failed} failed${skips}`);
});
