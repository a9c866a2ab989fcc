import { write, writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { RELEASE } from '../version.ts';

export type ProcessName = 'web' | 'worker';

/** Levels are words, and times are ISO 8601. */
export const LOG_FORMAT = {
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label: string) => ({ level: label }) },
};

const STDOUT = 1;
/** Characters that trigger a write before the timer does. */
const FLUSH_BYTES = 8192;
const FLUSH_MS = 100;
/** Characters buffered for a slow reader; further lines are dropped. */
const MAX_BUFFER_BYTES = 1_048_576;

/**
 * Creates a logger that writes lines of JSON to standard output in batches, a tenth of a second
 * after the first: a write per line would cost a request as much as its response. Fatal lines are
 * written immediately, and the rest when the process exits; only a killed process loses its latest
 * lines.
 */
export function createLogger(level: string, name: ProcessName): Logger {
  const output = openOutput();
  return pino(
    { ...LOG_FORMAT, level, base: { process: name, pid: process.pid, release: RELEASE } },
    output,
  );
}

/**
 * A pino destination that drops lines if the reader is gone or the disk is full. The destination of
 * pino itself would retry such lines endlessly when the process exits.
 */
function openOutput() {
  let waiting = '';
  let chunk: Buffer = Buffer.alloc(0);
  let writing = false;

  function flush(): void {
    if (writing) return;
    if (chunk.length === 0) {
      chunk = Buffer.from(waiting);
      waiting = '';
    }
    if (chunk.length === 0) return;
    writing = true;
    write(STDOUT, chunk, (error, written) => {
      writing = false;
      // The pipe is full: the timer tries again.
      if (error?.code === 'EAGAIN') return;
      chunk = error ? Buffer.alloc(0) : chunk.subarray(written);
      if (chunk.length > 0 || waiting.length >= FLUSH_BYTES) flush();
    });
  }

  /** Writes all buffered lines synchronously. pino calls this after a fatal line. */
  function flushSync(): void {
    let rest = Buffer.concat([writing ? Buffer.alloc(0) : chunk, Buffer.from(waiting)]);
    chunk = writing ? chunk : Buffer.alloc(0);
    waiting = '';
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(STDOUT, rest));
    } catch {
      // Standard output is gone, so there is nowhere to report the error.
    }
  }

  // Only while lines wait, so that a process without requests does not wake up ten times a second.
  let due = false;
  function flushSoon(): void {
    if (due) return;
    due = true;
    setTimeout(() => {
      due = false;
      flush();
      if (chunk.length > 0 || waiting.length > 0) flushSoon();
    }, FLUSH_MS).unref();
  }

  process.once('exit', flushSync);
  return {
    flush: flushSync,
    flushSync,
    write(line: string): void {
      if (waiting.length < MAX_BUFFER_BYTES) waiting += line;
      if (waiting.length >= FLUSH_BYTES) flush();
      flushSoon();
    },
  };
}

interface Fault {
  name?: string;
  message: string;
  stack?: string;
  cause?: unknown;
  code?: unknown;
  constraint?: unknown;
  queue?: unknown;
}

/**
 * Converts an error and its causes for the log, without what a database driver attaches
 * (parameters, rows, the connection) and without messages in which the database quotes a value.
 * Accepts any object with a message, because the job queue reports errors as plain objects. Without `stack`,
 * the places in the code are left out.
 */
export function toLoggable(error: unknown, options = { stack: true }): Record<string, unknown> {
  if (!isFault(error)) return { message: 'not an error' };
  const { name, code, constraint, queue } = error;
  const quotes = /^2[23]\w{3}$/.test(String(code));
  const message = quotes ? 'the database refused a value' : error.message;
  const stack = options.stack ? error.stack?.match(/^ +at .*$/gm)?.join('\n') : undefined;
  const cause = error.cause === undefined ? {} : { cause: toLoggable(error.cause, options) };
  return { name, message, code, constraint, queue, stack, ...cause };
}

const isFault = (error: unknown): error is Fault =>
  typeof (error as { message?: unknown } | null | undefined)?.message === 'string';
