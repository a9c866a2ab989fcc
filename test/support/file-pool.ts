import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { signalGroup } from '../../platform/supervisor/child.ts';
import type { FromProcess, ToProcess } from './file-process.ts';
import { type FileResult, TapOutput } from './tap-output.ts';

export interface Finished extends FileResult {
  seconds: number;
  /** The files that the same process ran before. */
  before: readonly string[];
}

export interface Options {
  files: readonly string[];
  jobs: number;
  timeoutMs: number;
  grep: string | undefined;
  env: NodeJS.ProcessEnv;
  /** A process is killed this long after a file's timeout, unless it reports the timeout itself. */
  graceMs?: number;
  finished(result: Finished): void;
}

/** Bounds what a process keeps in memory: each file's modules and results stay in it. */
const FILES_OF_A_PROCESS = 40;
const STARTS_WITHIN_MS = 120_000;
const ENDS_WITHIN_MS = 60_000;
const PROGRAM = join(import.meta.dirname, 'file-process.ts');
const OPTIONS = [
  // With Node's 16 MB for new objects, a tenth of the processor time of a test goes to collecting them.
  '--max-semi-space-size=64',
  // Before all that imports tap.
  `--import=${join(import.meta.dirname, 'tap-domains.ts')}`,
  '--import=@tapjs/mock/import',
];

/**
 * Runs test files in several processes, each of which runs many, one after the other. The files that wait
 * for processes and timeouts come first: every second process takes from the end, so that those beside
 * them compute. A process that ran a failing file gets no other; one that hangs or dies is reported for its
 * file alone.
 */
export function runFiles(options: Options) {
  const left = [...options.files];
  const running = new Set<ChildProcess>();
  let stopped = false;

  async function work(_: unknown, lane: number): Promise<void> {
    const take = () => (lane % 2 === 0 ? left.shift() : left.pop());
    while (left.length > 0 && !stopped) await runProcess(options, take, running, () => stopped);
  }

  return {
    ended: Promise.all(Array.from({ length: options.jobs }, work)).then(() => undefined),
    stop(signal: NodeJS.Signals): void {
      stopped = true;
      left.length = 0;
      for (const child of running) signalGroup(child, signal);
      setTimeout(() => {
        for (const child of running) signalGroup(child, 'SIGKILL');
      }, 10_000).unref();
    },
  };
}

async function runProcess(
  { timeoutMs, grep, env, finished, graceMs = 20_000 }: Options,
  take: () => string | undefined,
  running: Set<ChildProcess>,
  isStopped: () => boolean,
): Promise<void> {
  // A process group, so that what a killed process started ends with it.
  const child = spawn(process.execPath, [...OPTIONS, PROGRAM], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  running.add(child);
  const before: string[] = [];
  let current: string | undefined;
  let startedAt = 0;
  let failed = false;
  let reason = '';
  let timer: NodeJS.Timeout | undefined;

  const report = (result: FileResult) => {
    const seconds = (performance.now() - startedAt) / 1000;
    if (result.failed > 0) failed = true;
    finished({ ...result, seconds, before: [...before] });
  };
  const killAfter = (ms: number, why: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reason = why;
      signalGroup(child, 'SIGKILL');
    }, ms);
  };
  const send = (message: ToProcess) => child.send(message, () => undefined);

  function next(): void {
    current = before.length >= FILES_OF_A_PROCESS ? undefined : take();
    if (current === undefined) {
      killAfter(ENDS_WITHIN_MS, `did not end within ${ENDS_WITHIN_MS / 1000} s`);
      send({ end: true });
      return;
    }
    startedAt = performance.now();
    killAfter(timeoutMs + graceMs, `hung for ${(timeoutMs + graceMs) / 1000} s`);
    send({ file: current, timeoutMs, grep });
  }

  child.on('message', (message: FromProcess) => {
    // Until it is ready, tap would take a message for its own.
    if ('ready' in message) next();
    // A file may set a longer timeout.
    else if (message.timeoutMs > timeoutMs)
      killAfter(message.timeoutMs + graceMs, `hung for ${message.timeoutMs / 1000} s`);
  });
  const output = new TapOutput((result) => {
    report(result);
    if (current !== undefined) before.push(current);
    current = undefined;
    // What a failed file left open may disturb the next one.
    if (failed) signalGroup(child, 'SIGKILL');
    else next();
  });
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
  lines.on('line', (line) => output.read(line));
  const read = once(lines, 'close');
  child.once('exit', () => signalGroup(child, 'SIGKILL'));
  killAfter(STARTS_WITHIN_MS, `did not start within ${STARTS_WITHIN_MS / 1000} s`);

  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  clearTimeout(timer);
  await read;
  running.delete(child);
  if (isStopped()) return;
  const ended = reason || `ended with ${signal ?? `exit code ${code}`}`;
  const died = { passed: 0, failed: 1, skipped: 0, failures: [], processor: 0 };
  if (current !== undefined) {
    const lines = [...output.rest(), `not ok - the process ${ended} while it ran ${current}`];
    report({ ...died, file: current, lines });
  } else if (!failed && (code !== 0 || reason)) {
    const file = before.at(-1) ?? '';
    const when = file ? `after ${before.join(' ')}` : 'before it ran a file';
    report({ ...died, file, lines: [...output.rest(), `not ok - the process ${ended} ${when}`] });
  }
}
