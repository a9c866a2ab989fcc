import type { Script } from '../../../domain/moderation/words.ts';

/** The characters of each script, as ranges of a regular expression. */
const LETTERS: Readonly<Record<Exclude<Script, 'japanese'> | 'kana', string>> = {
  latin: 'A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff',
  cyrillic: '\\u0400-\\u052f',
  greek: '\\u0370-\\u03ff\\u1f00-\\u1fff',
  hebrew: '\\u0590-\\u05ff',
  arabic: '\\u0600-\\u06ff\\u0750-\\u077f',
  devanagari: '\\u0900-\\u097f',
  thai: '\\u0e00-\\u0e7f',
  hangul: '\\u1100-\\u11ff\\uac00-\\ud7af',
  kana: '\\u3040-\\u30ff',
  han: '\\u3400-\\u4dbf\\u4e00-\\u9fff',
};

/** Which characters count for a script, and which must or must not be among them. */
function lettersOf(script: Script): { own: string; kana?: boolean } {
  if (script === 'japanese') return { own: LETTERS.kana + LETTERS.han, kana: true };
  if (script === 'han') return { own: LETTERS.han, kana: false };
  return { own: LETTERS[script] };
}

const SAMPLE = 'left(n.message, 300)';

/**
 * SQL: whether the text of the note `n` is in a script. As in platform/language.ts, the beginning decides, and most of at least
 * two letters. `value` adds a class of letters to the statement.
 */
export function isInScript(script: Script, value: (letters: string) => string): string {
  const { own, kana } = lettersOf(script);
  const count = (letters: string) => `regexp_count(${SAMPLE}, ${value(`[${letters}]`)})`;
  const found = count(own);
  const conditions = [`${found} >= 2`, `2 * ${found} > ${count(Object.values(LETTERS).join(''))}`];
  if (kana !== undefined)
    conditions.push(`${SAMPLE} ${kana ? '~' : '!~'} ${value(`[${LETTERS.kana}]`)}`);
  return `(${conditions.join(' AND ')})`;
}
