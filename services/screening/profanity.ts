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
    const word = folded.slice(startIndex, endIndex + 1);
    if (isNumber(word)) continue;
    words.push(word);
    end = endIndex;
  }
  return words;
}

/** Digits stand for letters in a disguise, but most of a number are digits. */
function isNumber(word: string): boolean {
  const letters = word.match(/\p{L}/gu)?.length ?? 0;
  return /\d/.test(word) && letters * 2 < word.length;
}
