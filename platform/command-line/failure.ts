/** What went wrong with a command, in a line: an error with what caused it. */
export function lineOf(error: unknown): string {
  const said: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // One for several addresses has no words of its own.
    const { message, code = cause.name } = cause as NodeJS.ErrnoException;
    const words = message || code;
    // Some tell what caused them in their own words.
    if (!said.at(-1)?.includes(words)) said.push(words);
  }
  return `${said.join(': ')}\n`;
}
