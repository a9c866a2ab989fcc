import { screeningJob } from '../../domain/guestbook/jobs.ts';
import { guestNoteOwner, memberOwner } from '../../domain/owners.ts';
import {
  type Accepted,
  type Command,
  defineCommand,
  definePolicy,
  handle,
  type Policy,
} from '../../platform/eventstore/handle.ts';
import { requestIn } from '../../platform/eventstore/idempotency.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { sql } from '../../platform/sql.ts';
import { findNote } from '../../projections/guestbook/notes.ts';
import { findLiveSession } from '../membership/sessions.ts';
import { RECEIPT_SPACES } from '../receipt-spaces.ts';
import type { NoteSubmission } from './contract.ts';
import type { GuestbookDeps } from './deps.ts';
import { noteStreamOf } from './note-stream.ts';
import { type NoteStatus, publicStatus } from './outcome.ts';

interface SubmittedNote {
  /** The status of the note as its author sees it. */
  status: NoteStatus;
  id: string;
}

/** 202 for a new note, 200 for a note received before. */
export type SubmitReply =
  | { status: 200; body: SubmittedNote }
  | { status: 202; body: SubmittedNote };

export type SubmitRefusal =
  | 'session_required'
  | 'submission_conflict'
  | 'admission_closed'
  | 'rate_limited'
  | 'reply_target_unavailable';

/** What a caller may still do, and where a guest writes from. */
interface SubmitOptions {
  /** Refuses every note that was not received before. */
  limited?: boolean;
  /** The keyed hash of a guest's address, kept for moderators. */
  address?: string | undefined;
}

type SubmitDeps = Pick<GuestbookDeps, 'store' | 'keys' | 'config'>;

/**
 * Submits a note, once per id. A member owns the note's stream and needs a live session; for a guest, the
 * note's id is the owner.
 */
export function submitNote(
  { store, keys, config }: SubmitDeps,
  body: NoteSubmission,
  session: PrincipalOf<'session'> | null,
  options: SubmitOptions = {},
): Promise<SubmitReply | Refusal<SubmitRefusal>> {
  return handle(
    store,
    byAuthor(keys, body, session),
    submitCommand(config, body, session, options),
  );
}

/** The author of a note. A guest has nothing to prove, and the note's id is the key of the receipt. */
function byAuthor(
  keys: KeyRing,
  body: NoteSubmission,
  session: PrincipalOf<'session'> | null,
): Policy<'session_required' | 'submission_conflict', SubmitReply> {
  const { id } = body;
  const memberId = session?.memberId ?? null;
  return definePolicy({
    actor: memberId ? { type: 'member', id: memberId } : { type: 'guest' },
    // A guest's id is not locked: a commit after the reads is found by the read of the receipt.
    ...(memberId ? { lock: [memberId] } : {}),
    load: session ? findLiveSession(session.sessionId) : null,
    prove: ([live]) =>
      session && live?.member_id !== memberId ? refuse('session_required') : null,
    request: requestIn(RECEIPT_SPACES.note, {
      owner: memberId ? memberOwner(memberId) : guestNoteOwner(id),
      key: id,
      operation: 'guestbook.submit',
      route: 'POST /api/guestbook',
      // The parsed body, which includes the defaults.
      sent: body,
      keys,
    }),
    repeat: (stored) => stored as SubmitReply,
  });
}

function submitCommand(
  config: GuestbookDeps['config'],
  body: NoteSubmission,
  session: PrincipalOf<'session'> | null,
  { limited = false, address }: SubmitOptions,
): Command<SubmitReply, SubmitRefusal> {
  const { id } = body;
  const memberId = session?.memberId ?? null;
  const owner = memberId ? memberOwner(memberId) : guestNoteOwner(id);
  return defineCommand({
    load: {
      notes: findNote(id),
      parents: body.parent_id ? findNote(body.parent_id) : null,
    },
    decide({ notes: [known], parents: [parent] }): Accepted<SubmitReply> | Refusal<SubmitRefusal> {
      // The id belongs to another author's note.
      if (known) return refuse('submission_conflict');
      if (limited) return refuse('rate_limited');
      // No note exists, so its stream is empty; the unique index on stream versions enforces that.
      const decided = noteStreamOf(owner, id, []).decide({
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
      return {
        appends: [decided],
        rows:
          address === undefined
            ? []
            : [
                sql`INSERT INTO note_addresses (note_id, bucket, submitted_at)
                  VALUES (${id}, ${address}, clock_timestamp()) ON CONFLICT DO NOTHING`,
              ],
        jobs: [screeningJob([id])],
        reply: () => ({ status: 202, body: { status: 'pending_review', id } }),
      };
    },
    // A repeat has the status that the note has now.
    restore(_stored, { notes: [known] }, now) {
      const status = known ? publicStatus(known, config.undoWindowSeconds, now) : 'pending_review';
      return { status: 200, body: { status, id } };
    },
  });
}
