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
export const visible = (text: string): string => text.replaceAll(INVISIBLE, '');

const QUOTE = 60;

/** Identifies a note by up to 60 code points of its beginning, on one line. */
export function quoteOf(message: string): string {
  const characters = [...visible(message).replace(/\s+/gu, ' ').trim()];
  return characters.length > QUOTE
    ? `${characters.slice(0, QUOTE).join('').trimEnd()}…`
    : characters.join('');
}

/** A short text by another person; `bdi` isolates its direction from the text around it. */
export function Foreign({ text, class: name = '' }: { text: string; class?: string }) {
  return (
    <bdi dir="auto" class={`foreign ${name}`}>
      {visible(text)}
    </bdi>
  );
}

/** Says how far to shorten a text of more than `most` code points; undefined if it fits. */
export function tooLong(text: string, most: number): string | undefined {
  const over = codePoints(text) - most;
  return over > 0 ? `Shorten it by ${over} ${over === 1 ? 'character' : 'characters'}.` : undefined;
}
