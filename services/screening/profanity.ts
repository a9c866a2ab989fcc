import { englishDataset, englishRecommendedTransformers, RegExpMatcher } from 'obscenity';

const matcher = new RegExpMatcher({
  ...englishDataset.build(),
  ...englishRecommendedTransformers,
});

/** Offensive English words in a folded text, including common disguised spellings. */
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

/** Digits can replace letters in a disguised word, but a match of mostly digits is a number. */
function isNumber(word: string): boolean {
  const letters = word.match(/\p{L}/gu)?.length ?? 0;
  return /\d/.test(word) && letters * 2 < word.length;
}
