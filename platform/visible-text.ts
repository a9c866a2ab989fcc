// Letters and symbols that are drawn as an empty space: the Braille blank, a null notehead, two
// blank hieroglyphs and the object replacement character.
const BLANK = '\\u2800\\u{1D159}\\u{13441}\\u{13442}\\uFFFC';

const VISIBLE = new RegExp(
  `(?![${BLANK}]|\\p{Default_Ignorable_Code_Point})[\\p{L}\\p{N}\\p{P}\\p{S}]`,
  'u',
);

/**
 * Whether a text has a character that is drawn by itself: a letter, number, punctuation mark or
 * symbol. White space, format controls, fillers, variation selectors and combining marks are not.
 * The service and the pages both decide by this rule.
 */
export const hasVisibleText = (text: string): boolean => VISIBLE.test(text);

/** The name that a guest's note is shown under: a name that shows nothing counts as empty. */
export const guestName = (name: string | null): string =>
  name && hasVisibleText(name) ? name : 'Guest';
