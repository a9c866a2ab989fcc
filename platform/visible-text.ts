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
