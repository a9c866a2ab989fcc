/** Length as the service counts it: in code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

// Characters that show nothing and may move or hide what stands around them. Joiners and variation
// selectors stay, since scripts and emoji need them.
const INVISIBLE =
  /(?![\u200c\u200d]|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/u;

export interface Piece {
  text: string;
  /** A character that shows nothing, by its code point (`U+202E`). */
  invisible?: string;
}

/** A text cut where it holds characters that show nothing. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (const part of text.split(new RegExp(`(${INVISIBLE.source})`, 'u'))) {
    if (part === '') continue;
    const point = part.codePointAt(0) ?? 0;
    pieces.push(
      INVISIBLE.test(part)
        ? { text: part, invisible: `U+${point.toString(16).toUpperCase().padStart(4, '0')}` }
        : { text: part },
    );
  }
  return pieces;
}

/** What a reader sees of a text: without the characters that show nothing. */
export function visible(text: string): string {
  return piecesOf(text)
    .filter(({ invisible }) => !invisible)
    .map((piece) => piece.text)
    .join('');
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
