import type { Finding } from './rules.ts';

const LONGEST_WORD = 40;
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;
const REPEATED = /([^\s\p{N}])\1{5,}/gu;
const SHOUTED = 0.7;
const FEWEST_SHOUTED = 16;

/** Words by the thousandth part: the same one over and over, or one without an end. */
export function shapeFindings(text: string, folded: string): Finding[] {
  const words = folded.split(' ').filter(Boolean);
  const long = words.filter(
    (word) => [...word].length > LONGEST_WORD && !word.includes('/') && !UNSPACED.test(word),
  ).length;
  return [
    { code: 'long_word' as const, count: long },
    { code: 'repeated_characters' as const, count: text.match(REPEATED)?.length ?? 0 },
    { code: 'repeated_words' as const, count: mostRepeated(words) },
    { code: 'shouting' as const, count: shouted(text) },
  ].filter((finding) => finding.count > 0);
}

/** How often the most frequent word stands there, where it makes more than half of a text. */
function mostRepeated(words: readonly string[]): number {
  if (words.length < 6) return 0;
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return most * 2 > words.length ? most : 0;
}

/** The share of capitals in percent, in scripts that have them. */
function shouted(text: string): number {
  const upper = text.match(/\p{Lu}/gu)?.length ?? 0;
  const cased = upper + (text.match(/\p{Ll}/gu)?.length ?? 0);
  return cased >= FEWEST_SHOUTED && upper / cased >= SHOUTED
    ? Math.round((100 * upper) / cased)
    : 0;
}
