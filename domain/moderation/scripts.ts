/** Scripts in which a text can be written, in the order in which the console offers them. */
export const SCRIPTS = [
  'latin',
  'cyrillic',
  'greek',
  'hebrew',
  'arabic',
  'devanagari',
  'thai',
  'hangul',
  'japanese',
  'han',
] as const;
export type Script = (typeof SCRIPTS)[number];
