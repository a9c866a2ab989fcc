import pg from 'pg';

/**
 * An error for the log: the chain of causes, without what a database driver attaches (parameters,
 * rows, the connection) and without messages in which the database quotes a value.
 */
export function loggable(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: 'not an error' };
  const { name, code, constraint } = error as Error & { code?: string; constraint?: string };
  const quotes = error instanceof pg.DatabaseError && /^2[23]/.test(code ?? '');
  const message = quotes ? 'the database refused a value' : error.message;
  const stack = error.stack?.slice(error.stack.indexOf('\n') + 1);
  const cause = error.cause === undefined ? {} : { cause: loggable(error.cause) };
  return { name, message, code, constraint, stack, ...cause };
}
