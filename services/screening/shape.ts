import { countSpans, type LocatedFinding } from '../../domain/screening/rules.ts';
import { spansOf } from '../../domain/screening/trace.ts';
import { fold } from './folded.ts';

const LONGEST_WORD = 40;
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;
// Dashes and dots are excluded, because people separate parts of a text with them.
const REPEATED = /([\p{L}!?$€£*♥])\1{5,}/gu;
const SHOUTED = 0.7;
const MIN_SHOUTED = 16;

/** Findings about a text's overall shape: very long words, repetition and capitals. */
export function shapeFindings(text: string): LocatedFinding[] {
  const words = spansOf(text, /\S+/gu);
  const long = words.filter((span) => isLong(fold(text.slice(...span))));
  return [
    countSpans('long_word', long),
    countSpans('repeated_characters', spansOf(text, REPEATED)),
    { code: 'repeated_words' as const, count: mostRepeated(fold(text).split(' ')), spans: [] },
    { code: 'shouting' as const, count: shouted(text), spans: [] },
  ].filter((finding) => finding.count > 0);
}

/** Whether a word is too long, unless it is an address, a ruler or in a script without spaces. */
function isLong(word: string): boolean {
  return (
    (word.match(/[\p{L}\p{N}]/gu)?.length ?? 0) > LONGEST_WORD &&
    !/[/.@]/.test(word) &&
    !UNSPACED.test(word)
  );
}

/** The count of the most frequent word if it makes up more than half of the text; otherwise 0. */
function mostRepeated(words: readonly string[]): number {
  if (words.length < 6) return 0;
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return most * 2 > words.length ? most : 0;
}

/** The percentage of capitals among cased letters, or 0 below the thresholds. */
function shouted(text: string): number {
  const upper = text.match(/\p{Lu}/gu)?.length ?? 0;
  const cased = upper + (text.match(/\p{Ll}/gu)?.length ?? 0);
  return cased >= MIN_SHOUTED && upper / cased >= SHOUTED ? Math.round((100 * upper) / cased) : 0;
}
