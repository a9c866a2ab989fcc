/** Length as the service counts it: in code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

// Characters that show nothing and may move or hide what stands around them. Joiners and variation
// selectors stay, since scripts and emoji need them.
const INVISIBLE =
  /(?![\u200c\u200d]|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;

/** What a reader sees of a text: without the characters that show nothing. */
export const visible = (text: string): string => text.replaceAll(INVISIBLE, '');

const QUOTE = 60;

/** The beginning of a note on one line, cut between characters, to say which note is meant. */
export function quoteOf(message: string): string {
  const characters = [...visible(message).replace(/\s+/gu, ' ').trim()];
  return characters.length > QUOTE
    ? `${characters.slice(0, QUOTE).join('').trimEnd()}…`
    : characters.join('');
}

/** A short text of somebody else, in its own direction, apart from what stands around it. */
export function Foreign({ text, class: name = '' }: { text: string; class?: string }) {
  return (
    <bdi dir="auto" class={`foreign ${name}`}>
      {visible(text)}
    </bdi>
  );
}

/** What to do about a text that is too long; nothing where it is not. */
export function tooLong(text: string, most: number): string | undefined {
  const over = codePoints(text) - most;
  return over > 0 ? `Shorten it by ${over} ${over === 1 ? 'character' : 'characters'}.` : undefined;
}
