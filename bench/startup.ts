import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../harness/free-port.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import type { LongBenchmark } from './environment.ts';
import { readMemory } from './process-usage.ts';

const ROOT = join(import.meta.dirname, '..');
const STARTS = 5;
const PATIENCE_MS = 60_000;

/** Times `npm start` until ready: with an empty data folder, then with that folder again. */
export const startup: LongBenchmark = {
  name: 'startup',
  async measure() {
    const { path, remove } = temporaryFolder('bench-startup');
    try {
      process.stdout.write(`startup / an empty data folder: ${await start(path)}\n`);
      for (let again = 1; again < STARTS; again++)
        process.stdout.write(`startup / the same folder again: ${await start(path)}\n`);
    } finally {
      remove();
    }
  },
};

async function start(dataDir: string): Promise<string> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const env = { ...process.env, DATA_DIR: dataDir, PORT: port, METRICS_PORT: await freePort() };
  const started = performance.now();
  const npm = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(npm, 'exit');
  try {
    while ((await fetch(`${base}/readyz`).catch(() => undefined))?.status !== 200) {
      if (npm.exitCode !== null || performance.now() - started > PATIENCE_MS)
        throw new Error('npm start did not become ready');
      await sleep(20);
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(2);
    return `ready in ${seconds} s; peak memory ${memories(npm.pid ?? 0)}`;
  } finally {
    const [supervisor] = below(npm.pid ?? 0).filter(({ command }) => command === 'start');
    if (supervisor) process.kill(supervisor.pid, 'SIGTERM');
    else npm.kill('SIGTERM');
    await ended;
  }
}

/** Peak memory of each process; PostgreSQL's are summed, so shared pages count repeatedly. */
function memories(pid: number): string {
  const peaks = new Map<string, number>();
  for (const { pid: each, command } of below(pid))
    peaks.set(command, (peaks.get(command) ?? 0) + (readMemory(each)?.peak ?? 0));
  const told = [...peaks].map(([command, peak]) => `${command} ${peak.toFixed(0)} MiB`);
  return told.join(', ') || 'is told on Linux alone';
}

interface Running {
  pid: number;
  command: string;
}

/** The descendants of a process and the script of each; empty on systems without /proc. */
function below(pid: number): Running[] {
  const parents = new Map<number, number>();
  for (const name of folder('/proc').filter((each) => /^\d+$/.test(each)))
    parents.set(Number(name), Number(read(`/proc/${name}/status`).match(/^PPid:\s+(\d+)/m)?.[1]));
  const descends = (each: number | undefined): boolean =>
    each !== undefined && (each === pid || descends(parents.get(each)));
  return [...parents.keys()]
    .filter((each) => each !== pid && descends(parents.get(each)))
    .map((each) => ({ pid: each, command: commandOf(each) }));
}

function commandOf(pid: number): string {
  const words = read(`/proc/${pid}/cmdline`).split('\0');
  const script = words.find((word) => /\.[jt]s$/.test(word)) ?? words[0] ?? '';
  return /postgres/.test(words[0] ?? '')
    ? 'PostgreSQL'
    : (script.match(/([\w-]+)(\.[jt]s)?$/)?.[1] ?? '?');
}

const folder = (path: string) => attempt(() => readdirSync(path), []);
const read = (path: string) => attempt(() => readFileSync(path, 'utf8'), '');

function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
