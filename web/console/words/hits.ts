import { findWords, parseQuery, type TextPart } from '../../../platform/words.ts';
import { truncate } from './labels.ts';

export type { TextPart };

/** A character with its marks: texts are compared composed, which joins these and no others. */
const CHARACTER = /\P{M}?\p{M}*/gu;

/** Where the service's search finds `query` in the text: as a part of it, or else its words. */
export function findHits(text: string, query: string): TextPart[] {
  const parts = findParts(text, query);
  return parts.length > 0 ? parts : findWords(text, parseQuery(query));
}

/** Finds a part of the text in any case and however it is composed. */
function findParts(text: string, query: string): TextPart[] {
  const needle = query.normalize('NFKC').toLowerCase();
  if (needle === '') return [];
  let folded = '';
  /** For each letter of `folded`, the place of its character in `text`. */
  const places: TextPart[] = [];
  for (const { 0: character, index } of text.matchAll(CHARACTER)) {
    const part = character.normalize('NFKC').toLowerCase();
    folded += part;
    for (let letter = 0; letter < part.length; letter++)
      places.push([index, index + character.length]);
  }
  const hits: TextPart[] = [];
  for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, at + needle.length)) {
    const [start] = places[at] as TextPart;
    const [, end] = places[at + needle.length - 1] as TextPart;
    if (start >= (hits.at(-1)?.[1] ?? 0)) hits.push([start, end]);
  }
  return hits;
}

/** Splits a text where one of the parts, which may overlap, begins or ends. */
export function splitAtParts(text: string, parts: readonly TextPart[]): TextPart[] {
  const cuts = [...new Set([0, ...parts.flat(), text.length])].sort((one, other) => one - other);
  return cuts.slice(1).map((end, index) => [cuts[index] ?? 0, end]);
}

/** Letters that an excerpt shows before its hit. */
const BEFORE = 30;

/** The beginning of a text, or the part around its first hit if that is further down. */
export function excerptAround(text: string, query: string, maxLength: number): string {
  const [start = 0] = findHits(text, query)[0] ?? [];
  if (start <= 2 * BEFORE) return truncate(text, maxLength);
  // Begins with a whole word, or else with a whole character.
  const before = [...text.slice(0, start)].slice(-BEFORE).join('');
  return `…${truncate(before.replace(/^\S*\s+/u, '') + text.slice(start), maxLength)}`;
}
