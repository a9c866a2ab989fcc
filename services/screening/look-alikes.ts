import { likeness, shinglesOf } from './fingerprint.ts';
import { fold } from './folded.ts';
import type { Finding } from './rules.ts';

/** Another note that shares a hash with this one. `message` is null where the whole text is the same. */
export interface Candidate {
  note_id: string;
  state: string;
  same: boolean;
  message: string | null;
}

/** From this likeness on, two texts count as nearly the same. */
export const ALIKE = 0.6;

/** From 0 to 1; 1 where a reader would see the same text. */
export function similarity(one: string, other: string): number {
  if ((fold(one) || one) === (fold(other) || other)) return 1;
  return likeness(shinglesOf(one), shinglesOf(other));
}

const KINDS = [
  { states: ['rejected', 'removed'], same: 'same_as_rejected', like: 'like_rejected' },
  { states: ['pending'], same: 'same_as_pending', like: 'like_pending' },
  { states: ['approved'], same: 'same_as_approved', like: 'like_approved' },
] as const;

/** Which of the candidates are the same or nearly so, by what became of them. */
export function lookAlikeFindings(message: string, candidates: readonly Candidate[]): Finding[] {
  const shingles = shinglesOf(message);
  const same = candidates.filter((candidate) => candidate.same);
  const ids = new Set(same.map((candidate) => candidate.note_id));
  const like = candidates.filter(
    (other) =>
      !ids.has(other.note_id) &&
      other.message !== null &&
      likeness(shingles, shinglesOf(other.message)) >= ALIKE,
  );
  const count = (among: readonly Candidate[], states: readonly string[]) =>
    among.filter(({ state }) => states.includes(state)).length;
  return KINDS.flatMap((kind) => [
    { code: kind.same, count: count(same, kind.states) },
    { code: kind.like, count: count(like, kind.states) },
  ]).filter((finding) => finding.count > 0);
}
