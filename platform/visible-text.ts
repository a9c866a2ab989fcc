// Letters and symbols that render as an empty space: the Braille blank, a null notehead, two blank
// hieroglyphs and the object replacement character.
const BLANK = '\\u2800\\u{1D159}\\u{13441}\\u{13442}\\uFFFC';

const VISIBLE = new RegExp(
  `(?![${BLANK}]|\\p{Default_Ignorable_Code_Point})[\\p{L}\\p{N}\\p{P}\\p{S}]`,
  'u',
);

/**
 * Whether a text contains a visible character: a letter, number, punctuation mark or symbol. White
 * space, format controls, fillers, variation selectors and combining marks do not count. Both the
 * service and the web pages apply this rule.
 */
export const hasVisibleText = (text: string): boolean => VISIBLE.test(text);

/** The name to display for a guest's note: "Guest" if the given name has no visible character. */
export const guestName = (name: string | null): string =>
  name && hasVisibleText(name) ? name : 'Guest';

// Invisible characters that can move or hide the text around them. Joiners and variation selectors
// are excluded because scripts and emoji need them.
const INVISIBLE =
  /(?![\u200c\u200d]|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;

/** Removes invisible characters from a text. */
export const stripInvisible = (text: string): string => text.replaceAll(INVISIBLE, '');

/** The beginning of a text on one line, without invisible characters: at most `max` code points. */
export function toLine(text: string, max: number): string {
  const characters = [...stripInvisible(text).replace(/\s+/gu, ' ').trim()];
  if (characters.length <= max) return characters.join('');
  const start = characters.slice(0, max - 1).join('');
  return `${start.trimEnd()}…`;
}
