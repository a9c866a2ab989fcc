/** The length of a text in code points, as the service counts it. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

// Invisible characters that can move or hide the text around them. Joiners and variation selectors
// are excluded because scripts and emoji need them.
const INVISIBLE =
  /(?![\u200c\u200d]|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;

/** Removes invisible characters from a text. */
export const stripInvisible = (text: string): string => text.replaceAll(INVISIBLE, '');

/** A text as it is shown: without invisible characters, outer white space and repeated empty lines. */
export const tidy = (text: string): string =>
  stripInvisible(text)
    .replace(/\n{3,}/g, '\n\n')
    .trim();

const MAX_QUOTE_LENGTH = 60;

/** Identifies a note by up to 60 code points of its beginning, on one line. */
export function toQuote(message: string): string {
  const characters = [...stripInvisible(message).replace(/\s+/gu, ' ').trim()];
  return characters.length > MAX_QUOTE_LENGTH
    ? `${characters.slice(0, MAX_QUOTE_LENGTH).join('').trimEnd()}…`
    : characters.join('');
}

/** A short text by another person; `bdi` isolates its direction from the text around it. */
export function UserText({ text, class: name = '' }: { text: string; class?: string }) {
  return (
    <bdi dir="auto" class={`foreign ${name}`}>
      {stripInvisible(text)}
    </bdi>
  );
}

/** Says how far to shorten a text of more than `maxLength` code points; undefined if it fits. */
export function lengthError(text: string, maxLength: number): string | undefined {
  const over = codePoints(text) - maxLength;
  return over > 0 ? `Shorten it by ${over} ${over === 1 ? 'character' : 'characters'}.` : undefined;
}
