import { isUnavailableReport } from '../../platform/postgres/errors.ts';

/** What the service says of storage that was too slow; the other refusals are errors of the database. */
const TOO_LATE = new Set([
  'no connection in time',
  'no turn in time',
  'connection given up',
  'too late to write',
  'not committed',
  'the transaction was not committed',
  'the statement took too long, or its caller is gone',
]);

interface Logged {
  message: string;
  code?: string;
  cause?: Logged;
}

/**
 * Whether a line of a process's log, after its name or alone, has an error by which storage refused work, as it may on a
 * busy machine. A job is then tried again.
 */
export function isStorageRefusal(line: string): boolean {
  const [json] = /\{"level":.*\}$/.exec(line) ?? [];
  if (json === undefined) return false;
  let { error } = JSON.parse(json) as { error?: Logged };
  if (!error) return false;
  while (error.cause) error = error.cause;
  const { message, code } = error;
  if (TOO_LATE.has(message)) return true;
  // Codes of the operating system, such as EACCES, have no digit.
  if (code !== undefined && !/\d/.test(code)) return false;
  return isUnavailableReport(Object.assign(new Error(message), { code }));
}
