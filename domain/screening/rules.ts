import type { Span } from './trace.ts';

/** Increase this when findings or points change, then run `npm run moderator -- rescreen`. */
export const RULES_VERSION = 4;

/**
 * The points of every finding code. A finding with no points informs moderators and does not count
 * against the note.
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
  member_name: 2,
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

/** A finding without words of the note, which are stored separately so that they can be erased. */
export interface Finding {
  code: FindingCode;
  /** What the code counts: links, words, notes, characters or percent. */
  count: number;
}

/** A finding and the parts of the screened text that it refers to. */
export interface LocatedFinding extends Finding {
  spans: readonly Span[];
}

/** A finding that counts the parts of the text which it refers to. */
export const countSpans = (code: FindingCode, spans: readonly Span[]): LocatedFinding => ({
  code,
  count: spans.length,
  spans,
});

export const BANDS = ['clear', 'look', 'likely_spam'] as const;
export type Band = (typeof BANDS)[number];

/** What turns findings into a band. */
export interface Weights {
  points: Readonly<Record<FindingCode, number>>;
  /** The points from which a note is likely spam. */
  likelySpam: number;
}

export const WEIGHTS: Weights = { points: POINTS, likelySpam: 4 };

/** The band groups and colours notes for moderators. It neither decides nor delays a note. */
export function toBand(
  findings: readonly Pick<Finding, 'code'>[],
  { points, likelySpam }: Weights = WEIGHTS,
): Band {
  const sum = findings.reduce((total, { code }) => total + points[code], 0);
  if (sum === 0) return 'clear';
  return sum < likelySpam ? 'look' : 'likely_spam';
}
