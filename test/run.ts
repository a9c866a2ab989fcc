import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { suiteDatabase } from './harness/suite-database.ts';
import { TapOutput } from './harness/tap-output.ts';

let stopTests: (signal: NodeJS.Signals) => void = () => undefined;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    interrupted = true;
    stopTests(signal);
  });

async function runTap(databaseUrl: string, files: string[]): Promise<TapOutput> {
  const output = new TapOutput((line) => console.log(line));
  const jobs = `--jobs=${Math.min(8, Math.max(2, availableParallelism()))}`;
  const tap = spawn('tap', ['--reporter=tap', jobs, ...files], {
    env: { ...process.env, TEST_DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stopTests = (signal) => {
    tap.kill(signal);
    setTimeout(() => tap.kill('SIGKILL'), 10_000).unref();
  };
  if (interrupted) stopTests('SIGTERM');
  const exit = once(tap, 'close') as Promise<[number | null]>;
  for await (const line of createInterface({ input: tap.stdout })) output.read(line);
  const [code] = await exit;
  output.end();
  const { totals } = output;
  if (interrupted || (code !== 0 && totals.failed === 0)) totals.failed++;
  if (totals.passed + totals.failed === 0) totals.failed++;
  return output;
}

async function main(): Promise<void> {
  const database = await suiteDatabase(process.env.TEST_DATABASE_URL);
  try {
    const { passed, failed, skipped } = (await runTap(database.url, process.argv.slice(2))).totals;
    if (interrupted) console.log('Interrupted');
    process.exitCode = failed > 0 ? 1 : 0;
    process.once('exit', () => {
      const skips = skipped > 0 ? `, ${skipped} skipped` : '';
      console.log(`${passed} passed, ${failed} failed${skips}`);
    });
  } finally {
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
