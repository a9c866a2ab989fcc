import { type Logger, pino } from 'pino';

/**
 * Lines of JSON on standard output, written together some times a second: a write for each line
 * would cost a request as much as its answer does. Fatal ones are written at once, the rest when
 * the process ends; only a killed one loses its last moment's.
 */
export function openLogger(level: string): Logger {
  const output = pino.destination({ dest: 1, sync: false, minLength: 8192, periodicFlush: 100 });
  return pino({ level, base: null }, output);
}
