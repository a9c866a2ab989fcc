/**
 * Characters that a terminal obeys instead of showing them, and those that change the direction of text. Records
 * are written by strangers, so these never reach a terminal.
 */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The text for a terminal: each unsafe character becomes a replacement character. */
export const plainText = (text: string): string => text.replace(UNSAFE, '\ufffd');

/** Makes the text of a record one line, so that it cannot pass for a line of `svc`. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

/** JSON that means the same, with escapes for unsafe characters. */
export const plainJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
