/**
 * What was decided on an author's notes before: a guest has no record; a member is new without an
 * approved note, clean if none of the newest decided notes was refused, and mixed otherwise.
 */
export const AUTHOR_RECORDS = ['guest', 'new', 'clean', 'mixed'] as const;
export type AuthorRecord = (typeof AUTHOR_RECORDS)[number];
