import canonicalize from 'canonicalize';
import type { Bound } from '../../platform/body-hash.ts';
import { readReceipt } from '../../platform/eventstore/append.ts';
import type { Actor } from '../../platform/eventstore/event.ts';
import {
  type Command,
  type Decision,
  defineCommand,
} from '../../platform/eventstore/event-store.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import { screeningJob } from '../../platform/jobs/queues.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { findNote, type NoteRow } from '../../projections/guestbook/notes.ts';
import { findLiveSession } from '../membership/sessions.ts';
import { notifiedAt } from './author-decisions.ts';
import type { NoteSubmission } from './contract.ts';
import type { GuestbookDeps } from './deps.ts';
import { note } from './note.ts';

interface Receipt {
  status: 'pending_review' | 'published' | 'not_published';
  id: string;
}

/** 202 for a new note, 200 for a note received before. */
export type SubmitReply = { status: 200; body: Receipt } | { status: 202; body: Receipt };

export type SubmitRefusal =
  | 'session_required'
  | 'submission_conflict'
  | 'admission_closed'
  | 'rate_limited'
  | 'reply_target_unavailable';

/**
 * Submits a note. A member owns the note's stream and needs a live session; for a guest, the note's
 * id is the owner. `limited` refuses every note that was not received before.
 */
export function submitCommand(
  { keys, config }: Pick<GuestbookDeps, 'keys' | 'config'>,
  body: NoteSubmission,
  session: PrincipalOf<'session'> | null,
  limited = false,
): Command<SubmitReply, SubmitRefusal> {
  const { id } = body;
  const memberId = session?.memberId ?? null;
  const owner = memberId ?? id;
  const stream = `note-${id}`;
  const actor: Actor = memberId ? { type: 'member', id: memberId } : { type: 'guest' };
  // Includes the defaults. Its hash is keyed, as a plain hash would let a short text be guessed.
  const content = canonicalize(body) ?? '';
  return defineCommand({
    ...(memberId ? { lock: [memberId] } : {}),
    // A guest's id is not locked: a commit between these two reads is found by the second read.
    load: {
      notes: findNote(id),
      receipts: readReceipt(owner, 'note', id),
      sessions: session ? findLiveSession(session.sessionId) : null,
      parents: body.parent_id ? findNote(body.parent_id) : null,
    },
    decide({ rows, now }): Decision<SubmitReply, SubmitRefusal> {
      const [known] = rows.notes;
      const [receipt] = rows.receipts;
      const [live] = rows.sessions;
      const [parent] = rows.parents;
      if (session && live?.member_id !== memberId) return refuse('session_required');
      if (receipt) {
        // Null if erased with the author's account; then no caller can prove to be the author.
        const bound = receipt.bound as Bound | null;
        return bound && keys.verify('receipt', id, content, bound.submission)
          ? {
              unchanged: {
                status: 200,
                body: {
                  status: known
                    ? publicStatus(known, config.undoWindowSeconds, now)
                    : 'pending_review',
                  id,
                },
              },
            }
          : refuse('submission_conflict');
      }
      // The id belongs to another author's note.
      if (known) return refuse('submission_conflict');
      if (limited) return refuse('rate_limited');
      // No note exists, so its stream is empty; the unique index on stream versions enforces that.
      const decided = note.decide(note.initial, {
        type: 'SubmitNote',
        noteId: id,
        experience: body.experience,
        memberId,
        parentId: body.parent_id,
        name: body.name,
        message: body.message,
        parent: parent ?? null,
        admission: config.guestbookOpen,
      });
      if (isRefusal(decided)) return decided as typeof decided & { refused: SubmitRefusal };
      const answer: SubmitReply = { status: 202, body: { status: 'pending_review', id } };
      const submission = keys.mac('receipt', id, content);
      return {
        answer,
        appends: [{ owner, stream, version: 0, actor, events: decided }],
        receipt: (recorded) => ({
          owner,
          space: 'note',
          key: id,
          operation: 'guestbook.submit',
          route: 'POST /api/guestbook',
          bodyHash: submission.hash,
          bound: { submission },
          httpStatus: 202,
          reply: answer.body,
          eventIds: recorded.map((event) => event.event_id),
        }),
        jobs: [screeningJob([id])],
      };
    },
  });
}

/**
 * The status of a note for a caller who knows its id. All notes that will not be public share one
 * status, which hides the reason. A rejection reads as pending until its undo window has ended.
 */
export function publicStatus(
  known: NoteRow | undefined,
  undoSeconds: number,
  now: Date,
): Receipt['status'] {
  if (known?.state === 'approved') return 'published';
  if (known?.state === 'pending') return 'pending_review';
  const untold =
    known?.state === 'rejected' &&
    known.settled_at &&
    now < notifiedAt(known.settled_at, undoSeconds);
  return untold ? 'pending_review' : 'not_published';
}
