import { cutText, graphemeStart } from '../../platform/visible-text.ts';
import { type Alternative, findWords, type TextPart } from '../../platform/words.ts';

const MAX_LENGTH = 200;
/** Code points that an excerpt shows before its first hit. */
const BEFORE = 40;

export interface Excerpt {
  excerpt: string;
  /** The hits: start and length in code points of `excerpt`. */
  marks: [start: number, length: number][];
}

/** The part of the first text with a hit that is around this hit, or else the start of a text. */
export function toExcerpt(
  texts: readonly (string | null)[],
  query: readonly Alternative[],
): Excerpt {
  const found = texts.map((text) => ({ text: text ?? '', hits: findWords(text ?? '', query) }));
  const { text, hits } = found.find((one) => one.hits.length > 0) ??
    found[0] ?? { text: '', hits: [] };
  const { excerpt, from, shift } = cutAround(text, hits[0]);
  const marks = hits.flatMap(([start, end]): [number, number][] => {
    const to = Math.min(end, from + excerpt.length - shift);
    if (start < from || to <= start || end > to) return [];
    const at = shift + countCodePoints(text.slice(from, start));
    return [[at, countCodePoints(text.slice(start, end))]];
  });
  return { excerpt, marks };
}

const countCodePoints = (text: string): number => [...text].length;

/** `from` is where the excerpt begins in the text, after `shift` characters. */
function cutAround(text: string, hit: TextPart | undefined) {
  const whole = cutText(text, MAX_LENGTH);
  const inStart = !hit || countCodePoints(text.slice(0, hit[1])) <= MAX_LENGTH - BEFORE;
  if (whole.length === text.length) return { excerpt: text, from: 0, shift: 0 };
  if (inStart) return { excerpt: `${cutText(text, MAX_LENGTH - 1)}…`, from: 0, shift: 0 };
  const from = startBefore(text, hit[0]);
  const rest = text.slice(from);
  const part = cutText(rest, MAX_LENGTH - 1);
  const excerpt = part.length === rest.length ? `…${rest}` : `…${cutText(rest, MAX_LENGTH - 2)}…`;
  return { excerpt, from, shift: 1 };
}

/** Begins with a whole word, or else between two graphemes. */
function startBefore(text: string, hit: number): number {
  const near = [...text.slice(Math.max(0, hit - 2 * BEFORE), hit)].slice(-BEFORE).join('');
  const from = hit - near.length;
  const space = near.search(/\s/u);
  if (space >= 0) return from + space + (/^\s+/u.exec(near.slice(space))?.[0].length ?? 0);
  return graphemeStart(text, from);
}
