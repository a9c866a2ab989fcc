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

const toTags = (letters: string): string =>
  [...letters].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
const FLAGS = `\u{1F3F4}(?:${['gbeng', 'gbsct', 'gbwls'].map(toTags).join('|')})\u{E007F}`;

// Syllables that lack their first or middle letter have a filler in its place.
const [INITIAL, MEDIAL, FINAL] = [
  '[\\u1100-\\u115E\\uA960-\\uA97C]',
  '[\\u1161-\\u11A7\\uD7B0-\\uD7C6]',
  '[\\u11A8-\\u11FF\\uD7CB-\\uD7FB]',
];
const FILLERS = `\\u115F(?=${MEDIAL}|\\u1160${FINAL})|(?<=${INITIAL})\\u1160|(?<=\\u115F)\\u1160(?=${FINAL})`;

// Invisible characters that scripts and emoji need, and that change nothing beyond the text itself: joiners,
// variation selectors, direction marks (LRM, RLM, ALM), the zero width space, the Mongolian vowel separator.
const NEEDED = `${FLAGS}|[\\u200B-\\u200F\\u061C\\u180E]|\\p{Variation_Selector}|${FILLERS}`;

// All others can move or hide the text around them.
const HIDDEN = new RegExp(
  `(${NEEDED})|(\\p{Default_Ignorable_Code_Point}|[\\uFFF9-\\uFFFB])`,
  'gu',
);

/**
 * Removes the invisible characters that are not shown: the one rule for pages, their titles, the
 * console and titles in feeds.
 */
export const stripInvisible = (text: string): string => text.replaceAll(HIDDEN, '$1');

/** Splits a text at the characters that `stripInvisible` removes, which are the odd elements. */
export function splitAtInvisible(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { 2: hidden, index } of text.matchAll(HIDDEN)) {
    if (!hidden) continue;
    parts.push(text.slice(from, index), hidden);
    from = index + hidden.length;
  }
  return [...parts, text.slice(from)];
}

let segmenter: Intl.Segmenter | undefined;
/** Made when it is first needed, because that takes 20 ms of each process and page. */
const graphemes = () => {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  return segmenter;
};

/** Where the grapheme begins that contains a place of the text. */
export function graphemeStart(text: string, place: number): number {
  const near = Math.max(0, place - 64);
  return (
    near +
    (graphemes()
      .segment(text.slice(near, place + 64))
      .containing(place - near)?.index ?? 0)
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

const LINE_BREAKS = /\r\n|[\r\v\f\u0085]/g;
// Control characters but tab and line feed, and halves of a surrogate pair.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters in question
const REFUSED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Cs}/gu;

/** Writes every line break as a line feed: CR LF, CR, and VT, FF and NEL, which slides and PDFs use. */
export const withLineFeeds = (text: string): string => text.replace(LINE_BREAKS, '\n');

/** Removes the characters that the service refuses in any text: control characters, half emoji. */
export const withoutRefused = (text: string): string => text.replace(REFUSED, '');

/** The text before the first character that the service refuses; undefined if it refuses none. */
export function beforeRefused(text: string): string | undefined {
  const at = text.search(REFUSED);
  return at < 0 ? undefined : text.slice(0, at);
}
