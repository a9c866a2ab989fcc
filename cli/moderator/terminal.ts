/**
 * Characters that must not reach the terminal: escapes and control characters would command it, and
 * invisible and direction characters would disguise a text. All text from other people is printed
 * through this file only.
 */
const DANGEROUS =
  /(?![\uFE0E\uFE0F])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Text for one line, with each dangerous character replaced by a visible mark. */
export function printable(text: string): string {
  return text.replace(DANGEROUS, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** JSON with dangerous characters escaped; it still parses to the same value. */
export function printableJson(json: string): string {
  return json.replace(DANGEROUS, (character) =>
    Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

export function say(line = ''): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** Prints text with a bar before each line, so that no line passes for output of the command. */
export function quote(text: string): void {
  for (const line of text.split('\n')) say(`  | ${line.replaceAll('\t', '    ')}`);
}

/** Prints a message to standard error and exits with status 1. */
export function leave(message: string): never {
  process.stderr.write(message);
  process.exit(1);
}

export function age(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
