/** Formats an error and its causes as one line. */
export function failureLine(error: unknown): string {
  const said: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // An AggregateError of several connection attempts has no message, only a code.
    const { message, code = cause.name } = cause as NodeJS.ErrnoException;
    const words = message || code;
    // Some messages already include the message of their cause.
    if (!said.at(-1)?.includes(words)) said.push(words);
  }
  return `${said.join(': ')}\n`;
}
