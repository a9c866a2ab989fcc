import { englishDataset, englishRecommendedTransformers, RegExpMatcher } from 'obscenity';
import { countSpans, type LocatedFinding } from '../../domain/screening/rules.ts';
import type { Span } from '../../domain/screening/trace.ts';

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
