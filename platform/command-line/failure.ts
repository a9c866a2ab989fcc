/** What helps if the role of a command lacks a privilege. */
const LACKS_PRIVILEGE =
  'release, rebuild, restore and restored need the role that owns the tables; for other commands, a release with --grant grants what the role needs (docs/operating/roles.md)';

/** What pg says where PostgreSQL has ended, or has ended the connection. */
const LOST_CONNECTION = /^Connection terminated unexpectedly|has encountered a connection error/;
const WHY_LOST =
  'the connection to PostgreSQL was lost; its log, or the output of npm start, says why';

/** Formats an error and its causes as one line. */
export function failureLine(error: unknown): string {
  const said: string[] = [];
  let hint = '';
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as NodeJS.ErrnoException).code === '42501') hint = `: ${LACKS_PRIVILEGE}`;
    // An AggregateError of several connection attempts has no message, only a code.
    const { message, code = cause.name } = cause as NodeJS.ErrnoException;
    const words = message || code;
    if (LOST_CONNECTION.test(words)) hint = `: ${WHY_LOST}`;
    // Some messages already include the message of their cause.
    if (!said.at(-1)?.includes(words)) said.push(words);
  }
  return `${said.join(': ')}${hint}\n`;
}
