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

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Where the grapheme begins that contains a place of the text. */
export function graphemeStart(text: string, place: number): number {
  const near = Math.max(0, place - 64);
  return (
    near + (graphemes.segment(text.slice(near, place + 64)).containing(place - near)?.index ?? 0)
  );
}

/** The beginning of a text in at most `max` code points, without a part of a grapheme at its end. */
export function cutText(text: string, max: number): string {
  const part = [...text.slice(0, 2 * max + 2)].slice(0, max).join('');
  if (part.length === text.length) return text;
  const start = graphemeStart(text, part.length);
  return start > 0 ? part.slice(0, start) : part;
}

/**
 * The beginning of a text on one line, without invisible characters: at most `max` code points, cut
 * between graphemes.
 */
export function toLine(text: string, max: number): string {
  const line = stripInvisible(text).replace(/\s+/gu, ' ').trim();
  const start = cutText(line, max);
  return start.length === line.length ? line : `${cutText(line, max - 1).trimEnd()}…`;
}
