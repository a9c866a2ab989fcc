import { appealUntil } from '../../domain/guestbook/author-decisions.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import type { StandingRow } from '../../projections/guestbook/note-decisions.ts';
import type { NoteRow } from '../../projections/guestbook/notes.ts';

export type NoteStatus = 'pending_review' | 'published' | 'not_published';

type Settled = Pick<NoteRow, 'state' | 'settled_at'>;

/**
 * The status of a note for a caller who knows its id. All notes that will not be public share one
 * status, which hides the reason. A rejection reads as pending until its undo window has ended.
 */
export function publicStatus(
  known: Settled | undefined,
  undoSeconds: number,
  now: Date,
): NoteStatus {
  if (known?.state === 'approved') return 'published';
  if (known?.state === 'pending') return 'pending_review';
  const untold =
    known?.state === 'rejected' &&
    known.settled_at &&
    now < notifiedAt(known.settled_at, undoSeconds);
  return untold ? 'pending_review' : 'not_published';
}

/** The outcome of a note as its author may know it; `standing` is the decision in force. */
export function noteOutcome(
  row: Settled & Pick<NoteRow, 'note_id' | 'appeal' | 'erased_at'> & { now: Date },
  standing: Pick<StandingRow, 'decision' | 'policy' | 'message'> | undefined,
  undoSeconds: number,
) {
  const { note_id, state, appeal, settled_at, erased_at, now } = row;
  const status = publicStatus(row, undoSeconds, now);
  const refused = status === 'not_published' && state !== 'withdrawn';
  const until = settled_at && appealUntil(settled_at, undoSeconds);
  // A removal shows immediately; its reason shows once the undo window has ended.
  const notified = refused && settled_at !== null && notifiedAt(settled_at, undoSeconds) <= now;
  const appealable = refused && appeal === null && erased_at === null && until !== null;
  const decided = status === 'pending_review' ? null : (standing?.decision ?? null);
  return {
    status,
    id: note_id,
    outcome: state === 'withdrawn' ? ('withdrawn' as const) : decided,
    policy: notified ? (standing?.policy ?? null) : null,
    message: notified ? (standing?.message ?? null) : null,
    appeal_until: appealable && until > now ? until.toISOString() : null,
  };
}
