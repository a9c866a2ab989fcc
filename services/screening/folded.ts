/** Longest text to process, which bounds the cost. Notes are far shorter. */
const MAX_LENGTH = 4000;

/**
 * A copy of a text for comparison: decomposes compatibility forms, removes marks and format
 * characters, folds case and collapses white space. The text is stored and shown unchanged.
 */
export const fold = (text: string): string => foldPiece(text.slice(0, MAX_LENGTH)).trim();

/** Folds a piece of a text, and keeps the white space at its ends. */
export function foldPiece(piece: string): string {
  return piece
    .normalize('NFKD')
    .slice(0, MAX_LENGTH)
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFC')
    .replace(/\s+/gu, ' ');
}

/** The text cut to the maximum length, and well-formed. */
export const cut = (text: string): string => text.slice(0, MAX_LENGTH).toWellFormed();

/** The text cut to the maximum length, well-formed and in NFC. */
export const bounded = (text: string): string => cut(text).normalize('NFC');

const WORDS = /[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}\p{Cf}]|['’](?=\p{L}))*/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;
const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** The words of a text as written; a dictionary segments scripts without spaces. */
export function foldedWords(text: string): string[] {
  return (bounded(text).match(WORDS) ?? []).flatMap((word) =>
    UNSPACED.test(word) ? Array.from(segmenter.segment(word), ({ segment }) => segment) : [word],
  );
}
