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
