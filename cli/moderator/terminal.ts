/**
 * Whatever others wrote reaches a terminal through here alone: escapes and control characters would
 * command it, invisible and direction characters would show another text than there is.
 */
const DANGEROUS =
  /(?![\uFE0E\uFE0F])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** One line, with every such character drawn as a mark. */
export function printable(text: string): string {
  return text.replace(DANGEROUS, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** JSON that stays the same to who parses it. */
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

/** Text of many lines, each behind a bar, so that none passes for a line of this command. */
export function quote(text: string): void {
  for (const line of text.split('\n')) say(`  | ${line.replaceAll('\t', '    ')}`);
}

/** Ends the command, as one that failed. */
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
