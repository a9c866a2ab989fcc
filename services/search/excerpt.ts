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

/**
 * How much text the excerpts of one answer are looked for in, in UTF-16 code units. It is enough for a
 * page of records of usual length, and keeps a page of the longest ones from taking a second.
 */
const MAX_LOOKED_THROUGH = 50_000;

/**
 * Creates the function that makes the excerpts of one answer: the part of a record's first text with a
 * hit that is around this hit, or else the start of its first text.
 */
export function createExcerpts(query: readonly Alternative[]) {
  let left = MAX_LOOKED_THROUGH;
  return (texts: readonly (string | null)[]): Excerpt => {
    for (const text of texts) {
      left -= text?.length ?? 0;
      const hits = text && left >= 0 ? findWords(text, query) : [];
      if (text && hits.length > 0) return toExcerpt(text, hits);
    }
    return toExcerpt(texts[0] ?? '', []);
  };
}

function toExcerpt(text: string, hits: readonly TextPart[]): Excerpt {
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
