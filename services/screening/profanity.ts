import { englishDataset, englishRecommendedTransformers, RegExpMatcher } from 'obscenity';

const matcher = new RegExpMatcher({
  ...englishDataset.build(),
  ...englishRecommendedTransformers,
});

/** Words of a folded text that give offence in English, with the usual disguises. */
export function profaneWords(folded: string): string[] {
  const words: string[] = [];
  let end = -1;
  for (const { startIndex, endIndex } of matcher.getAllMatches(folded, true)) {
    if (startIndex <= end) continue;
    words.push(folded.slice(startIndex, endIndex + 1));
    end = endIndex;
  }
  return words;
}
