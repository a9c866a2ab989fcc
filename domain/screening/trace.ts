/** The start and the end of a part of a text, in UTF-16 code units. */
export type Span = readonly [start: number, end: number];

/** White space, or a character with its marks or jamo: composition joins nothing else. */
const PIECE = /\s+|[\u1100-\u11FF]+\p{M}*|\P{M}\p{M}*|\p{M}+/gu;

/**
 * Transforms a text piece by piece, and finds the part of the original that a part of the result
 * comes from.
 */
export function trace(original: string, transform: (piece: string) => string) {
  let text = '';
  /** For each code unit of `text`, the span of its piece in the original. */
  const places: Span[] = [];
  for (const { 0: piece, index } of original.matchAll(PIECE)) {
    const result = transform(piece);
    text += result;
    for (let at = 0; at < result.length; at++)
      places.push(result === piece ? [index + at, index + at + 1] : [index, index + piece.length]);
  }
  const toOriginal = ([start, end]: Span): Span => [
    places[start]?.[0] ?? original.length,
    places[end - 1]?.[1] ?? original.length,
  ];
  return { text, toOriginal };
}

/** The spans of all matches of a pattern. */
export const spansOf = (text: string, pattern: RegExp): Span[] =>
  Array.from(text.matchAll(pattern), ({ 0: match, index }) => [index, index + match.length]);
