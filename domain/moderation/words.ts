/** The views of the queue, in the order in which the console lists them. */
export const VIEWS = [
  'todo',
  'mine',
  'escalated',
  'deferred',
  'reported',
  'appeals',
  'decided',
] as const;
export type View = (typeof VIEWS)[number];

/**
 * What was decided on an author's notes before: a guest has no record; a member is new without an
 * approved note, clean if none of the newest decided notes was refused, and mixed otherwise.
 */
export const AUTHOR_RECORDS = ['guest', 'new', 'clean', 'mixed'] as const;
export type AuthorRecord = (typeof AUTHOR_RECORDS)[number];

/** How waiting notes of guests are alike: in their text, or in the address that they came from. */
export const FOLD_KINDS = ['text', 'address'] as const;
export type FoldKind = (typeof FOLD_KINDS)[number];

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
