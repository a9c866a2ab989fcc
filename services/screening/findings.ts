import { englishDataset, englishRecommendedTransformers, RegExpMatcher } from 'obscenity';
import {
  countSpans,
  type Finding,
  type FindingCode,
  type LocatedFinding,
} from '../../domain/screening/rules.ts';
import { type Span, trace } from '../../domain/screening/trace.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { characterFindings } from './characters.ts';
import { contactFindings } from './contacts.ts';
import { cut, fold, foldPiece } from './folded.ts';
import { shapeFindings } from './shape.ts';

/** Words of the note that a finding refers to, as they were written, by finding code. */
export type FindingWords = Partial<Record<FindingCode, string[]>>;

/** Parts of the message that a finding refers to, in code points, by finding code. */
export type FindingSpans = Partial<Record<FindingCode, [start: number, end: number][]>>;

export interface TextFindings {
  findings: Finding[];
  words: FindingWords;
}

const MAX_WORDS = 5;
const MAX_SPANS = 20;

const compose = (piece: string): string => piece.normalize('NFC');

// Folded to ss, a sharp s would make an English word of symbols such as åß∂ƒ.
const foldSymbols = (piece: string): string => (/[ßẞ]/.test(piece) ? ' ' : foldPiece(piece));

/** Findings in a note's message and name alone, without comparing it to other notes. */
export function findingsIn(note: { name: string; message: string }): TextFindings & {
  spans: FindingSpans;
} {
  const written = cut(`${note.message}\n${note.name}`);
  const composed = trace(written, compose);
  const folded = trace(written, foldSymbols);
  const message = trace(cut(note.message), compose);
  const found = [
    ...locate(contactFindings(composed.text), composed.toOriginal),
    ...locate(profanityFindings(folded.text), folded.toOriginal),
    ...locate(characterFindings(composed.text), composed.toOriginal),
    ...locate(shapeFindings(message.text), message.toOriginal),
  ];
  const words: FindingWords = {};
  const spans: FindingSpans = {};
  for (const { code, spans: parts } of found) {
    const distinct = new Set(parts.map((span) => written.slice(...span)));
    if (distinct.size > 0) words[code] = [...distinct].slice(0, MAX_WORDS);
    const inMessage = parts.filter(([, end]) => end <= note.message.length).slice(0, MAX_SPANS);
    if (inMessage.length > 0) spans[code] = inMessage.map((span) => toCodePoints(written, span));
  }
  return { findings: found.map(({ code, count }) => ({ code, count })), words, spans };
}

/** Maps the spans of findings to the text as it was written, and joins adjacent ones. */
function locate(
  findings: readonly LocatedFinding[],
  toOriginal: (span: Span) => Span,
): LocatedFinding[] {
  return findings.map((finding) => {
    const spans: Span[] = [];
    for (const [start, end] of finding.spans.map(toOriginal).sort(([a], [b]) => a - b)) {
      const last = spans.at(-1);
      if (last && start <= last[1]) spans.splice(-1, 1, [last[0], Math.max(last[1], end)]);
      else spans.push([start, end]);
    }
    return { ...finding, spans };
  });
}

function toCodePoints(text: string, [start, end]: Span): [number, number] {
  const before = [...text.slice(0, start)].length;
  return [before, before + [...text.slice(start, end)].length];
}

/** The names of former members on pages. */
const FORMER_MEMBER = 'former member';

/** Handles that a guest's name may be taken for. */
function handlesLike(name: string): string[] {
  const folded = fold(name);
  const bare = folded.replace(/^@\s*/, '');
  return [...new Set([folded, bare, bare.replaceAll(' ', '_')])].filter((one) => one !== '');
}

/** Reads whether the name of a guest is that of a member. */
export const memberNamed = (name: string): Sql<{ member_id: string }> =>
  sql`SELECT member_id FROM members WHERE handle = ANY(${handlesLike(name)}) LIMIT 1`;

/** The finding about a guest's name; `members` are the members who have it. */
export function nameFindings(name: string, members: readonly unknown[]): TextFindings {
  return members.length > 0 || handlesLike(name).includes(FORMER_MEMBER)
    ? { findings: [{ code: 'member_name', count: 1 }], words: { member_name: [name] } }
    : { findings: [], words: {} };
}

const matcher = new RegExpMatcher({
  ...englishDataset.build(),
  ...englishRecommendedTransformers,
});

/** Finds offensive English words in a folded text, also in common disguised spellings. */
export function profanityFindings(folded: string): LocatedFinding[] {
  const spans: Span[] = [];
  let end = 0;
  for (const { startIndex, endIndex } of matcher.getAllMatches(folded, true)) {
    const span: Span = [startIndex, endIndex + 1];
    if (startIndex < end || isNumber(folded.slice(...span))) continue;
    spans.push(span);
    end = endIndex + 1;
  }
  return spans.length > 0 ? [countSpans('profanity', spans)] : [];
}

/** Digits can replace letters in a disguised word, but a match of mostly digits is a number. */
function isNumber(word: string): boolean {
  const letters = word.match(/\p{L}/gu)?.length ?? 0;
  return /\d/.test(word) && letters * 2 < word.length;
}
