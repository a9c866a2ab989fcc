import { write, writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';

const STDOUT = 1;
const ENOUGH = 8192;
const FLUSH_MS = 100;
/** What waits for whoever reads too slowly. What comes on top of it is dropped. */
const MOST = 1_048_576;

/**
 * Lines of JSON on standard output, written together some times a second: a write for each line
 * would cost a request as much as its answer does. Fatal ones are written at once, the rest when
 * the process ends; only a killed one loses its last moment's.
 */
export function openLogger(level: string): Logger {
  return pino({ level, base: null }, openOutput());
}

/**
 * Lines that nobody reads any more, or that the disk has no room for, are lost and hold nobody:
 * pino's own destination tries them for ever when the process ends.
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
      // A pipe that is full is tried again by the timer.
      if (error?.code === 'EAGAIN') return;
      chunk = error ? Buffer.alloc(0) : chunk.subarray(written);
      if (chunk.length > 0 || waiting.length >= ENOUGH) flush();
    });
  }

  /** pino calls this after a fatal line. */
  function flushSync(): void {
    let rest = Buffer.concat([writing ? Buffer.alloc(0) : chunk, Buffer.from(waiting)]);
    chunk = writing ? chunk : Buffer.alloc(0);
    waiting = '';
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(STDOUT, rest));
    } catch {
      // Nobody is left to be told.
    }
  }

  setInterval(flush, FLUSH_MS).unref();
  process.once('exit', flushSync);
  return {
    flush: flushSync,
    flushSync,
    write(line: string): void {
      if (waiting.length < MOST) waiting += line;
      if (waiting.length >= ENOUGH) flush();
    },
  };
}
