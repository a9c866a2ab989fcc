/** Longest text to process, which bounds the cost. Notes are far shorter. */
const MAX_LENGTH = 4000;

/**
 * A copy of a text for comparison: decomposes compatibility forms, removes marks and format
 * characters, folds case and collapses white space. The text is stored and shown unchanged.
 */
export function fold(text: string): string {
  return text
    .slice(0, MAX_LENGTH)
    .normalize('NFKD')
    .slice(0, MAX_LENGTH)
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** The text cut to the maximum length, well-formed and in NFC. */
export function bounded(text: string): string {
  return text.slice(0, MAX_LENGTH).toWellFormed().normalize('NFC');
}

const WORDS = /[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}\p{Cf}]|['’](?=\p{L}))*/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;
const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** The words of a text as written; a dictionary segments scripts without spaces. */
export function foldedWords(text: string): string[] {
  return (bounded(text).match(WORDS) ?? []).flatMap((word) =>
    UNSPACED.test(word) ? Array.from(segmenter.segment(word), ({ segment }) => segment) : [word],
  );
}
