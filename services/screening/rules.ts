/** Rises with every change of what is found or how it weighs; see `npm run moderator -- rescreen`. */
export const RULES_VERSION = 1;

/**
 * Every finding, and how many points it weighs. A finding without points is for a person to know
 * and says nothing against the note.
 */
const POINTS = {
  same_as_rejected: 4,
  like_rejected: 4,
  reads_like_rejected: 4,
  same_as_pending: 2,
  like_pending: 1,
  same_as_approved: 0,
  like_approved: 0,
  links: 1,
  many_links: 2,
  link_to_number: 2,
  link_look_alike: 2,
  link_with_credentials: 2,
  email: 1,
  phone: 1,
  markup: 2,
  profanity: 2,
  mixed_scripts: 2,
  styled_letters: 1,
  direction: 2,
  invisible: 1,
  stacked_marks: 1,
  long_word: 1,
  repeated_characters: 1,
  repeated_words: 1,
  shouting: 1,
} as const;

export type FindingCode = keyof typeof POINTS;
export const FINDING_CODES = Object.keys(POINTS) as [FindingCode, ...FindingCode[]];

/** What was found, without a word of the note: those stand apart, since they can be erased. */
export interface Finding {
  code: FindingCode;
  /** Links, words, notes, characters: whatever the code counts. */
  count: number;
}

export const BANDS = ['clear', 'look', 'likely_spam'] as const;
export type Band = (typeof BANDS)[number];

const LIKELY_SPAM = 4;

/** A band groups and colours. It decides nothing, and no band keeps a note waiting. */
export function bandOf(findings: readonly Pick<Finding, 'code'>[]): Band {
  const points = findings.reduce((sum, { code }) => sum + POINTS[code], 0);
  if (points === 0) return 'clear';
  return points < LIKELY_SPAM ? 'look' : 'likely_spam';
}
