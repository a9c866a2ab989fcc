import type { Finding } from '../../domain/screening/rules.ts';
import type { LookAlikeRow } from '../../projections/screening/screenings.ts';
import { likeness, toComparable, toShingles } from './fingerprint.ts';

/** Minimum similarity at which two texts count as nearly the same. */
export const MIN_SIMILARITY = 0.6;

/** The similarity of two texts from 0 to 1; 1 if they count as the same. */
export function similarity(one: string, other: string): number {
  if (toComparable(one) === toComparable(other)) return 1;
  return likeness(toShingles(one), toShingles(other));
}

const KINDS = [
  { states: ['rejected', 'removed'], same: 'same_as_rejected', like: 'like_rejected' },
  { states: ['pending'], same: 'same_as_pending', like: 'like_pending' },
  { states: ['approved'], same: 'same_as_approved', like: 'like_approved' },
] as const;

/** Counts the candidates with the same or nearly the same text, by the state of their notes. */
export function lookAlikeFindings(message: string, candidates: readonly LookAlikeRow[]): Finding[] {
  const shingles = toShingles(message);
  const same = candidates.filter((candidate) => candidate.same);
  const ids = new Set(same.map((candidate) => candidate.note_id));
  const like = candidates.filter(
    (other) =>
      !ids.has(other.note_id) &&
      other.message !== null &&
      likeness(shingles, toShingles(other.message)) >= MIN_SIMILARITY,
  );
  const count = (among: readonly LookAlikeRow[], states: readonly string[]) =>
    among.filter(({ state }) => states.includes(state)).length;
  return KINDS.flatMap((kind) => [
    { code: kind.same, count: count(same, kind.states) },
    { code: kind.like, count: count(like, kind.states) },
  ]).filter((finding) => finding.count > 0);
}
