import { truncate } from './labels.ts';

/** A character with its marks: texts are compared composed, which joins these and no others. */
const CHARACTER = /\P{M}?\p{M}*/gu;

type Hit = readonly [start: number, end: number];

/** Where the service's search finds `query` in the text: in any case and however it is composed. */
export function findHits(text: string, query: string): Hit[] {
  const needle = query.normalize('NFKC').toLowerCase();
  if (needle === '') return [];
  let folded = '';
  /** For each letter of `folded`, the place of its character in `text`. */
  const places: Hit[] = [];
  for (const { 0: character, index } of text.matchAll(CHARACTER)) {
    const part = character.normalize('NFKC').toLowerCase();
    folded += part;
    for (let letter = 0; letter < part.length; letter++)
      places.push([index, index + character.length]);
  }
  const hits: Hit[] = [];
  for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, at + needle.length)) {
    const [start] = places[at] as Hit;
    const [, end] = places[at + needle.length - 1] as Hit;
    if (start >= (hits.at(-1)?.[1] ?? 0)) hits.push([start, end]);
  }
  return hits;
}

/** Splits a text so that every second part is a hit. */
export function splitAtHits(text: string, query: string): string[] {
  const cuts = findHits(text, query).flat();
  return [0, ...cuts].map((cut, index) => text.slice(cut, cuts[index]));
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
