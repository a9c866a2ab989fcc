/** What went wrong with a command, in a line: an error with what caused it. */
export function lineOf(error: unknown): string {
  const said: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // One for several addresses has no words of its own.
    const { message, code = cause.name } = cause as NodeJS.ErrnoException;
    said.push(message || code);
  }
  return `${said.join(': ')}\n`;
}
