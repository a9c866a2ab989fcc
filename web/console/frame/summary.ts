import { decisionState } from '../decide/own-decisions.ts';
import { formatDuration, plural } from '../words/format.ts';

let startedAt = Date.now();

/** Begins to count the time of a session. */
export function startSummary(): void {
  startedAt = Date.now();
}

/** What a moderator did since signing in, to read at the end of it; null for nothing. */
export function sessionSummary(): string | null {
  const { made } = decisionState();
  if (made === 0) return null;
  const seconds = Math.max(60, Math.floor((Date.now() - startedAt) / 1000));
  return `Signed out. You decided on ${plural(made, 'item')} in ${formatDuration(seconds)}.`;
}
