import { screeningJob } from '../../domain/guestbook/jobs.ts';
import { note } from '../../domain/guestbook/note.ts';
import { noteStream } from '../../domain/guestbook/streams.ts';
import type { Actor } from '../../platform/eventstore/event.ts';
import type { Command, Decision } from '../../platform/eventstore/event-store.ts';
import {
  defineIdempotentCommand,
  idempotentCommand,
} from '../../platform/eventstore/idempotency.ts';
import { guestNoteOwner, memberOwner } from '../../platform/eventstore/owner.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { sql } from '../../platform/sql.ts';
import { findNote } from '../../projections/guestbook/notes.ts';
import { findLiveSession } from '../membership/sessions.ts';
import type { NoteSubmission } from './contract.ts';
import type { GuestbookDeps } from './deps.ts';
import { type NoteStatus, publicStatus } from './outcome.ts';

/** The status of a note as its author sees it. */

interface SubmittedNote {
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

/**
 * Submits a note. A member owns the note's stream and needs a live session; for a guest, the note's
 * id is the owner. `limited` refuses every note that was not received before. `address` is the keyed
 * hash of a guest's address, kept for moderators.
 */
export function submitCommand(
  { keys, config }: Pick<GuestbookDeps, 'keys' | 'config'>,
  body: NoteSubmission,
  session: PrincipalOf<'session'> | null,
  { limited = false, address }: { limited?: boolean; address?: string | undefined } = {},
): Command<SubmitReply, SubmitRefusal> {
  const { id } = body;
  const memberId = session?.memberId ?? null;
  const owner = memberId ? memberOwner(memberId) : guestNoteOwner(id);
  const stream = noteStream(id);
  const actor: Actor = memberId ? { type: 'member', id: memberId } : { type: 'guest' };
  const command = defineIdempotentCommand({
    ...(memberId ? { lock: [memberId] } : {}),
    // A guest's id is not locked: a commit after this read is found by the read of the receipt.
    load: {
      notes: findNote(id),
      sessions: session ? findLiveSession(session.sessionId) : null,
      parents: body.parent_id ? findNote(body.parent_id) : null,
    },
    guard: ({ rows: { sessions } }) =>
      session && sessions[0]?.member_id !== memberId ? refuse('session_required') : null,
    toReply: (answer: SubmitReply) => answer,
    replay(_receipt, { rows: { notes }, now }): SubmitReply {
      const [known] = notes;
      const status = known ? publicStatus(known, config.undoWindowSeconds, now) : 'pending_review';
      return { status: 200, body: { status, id } };
    },
    decide({ rows }): Decision<SubmitReply, SubmitRefusal> {
      const [known] = rows.notes;
      const [parent] = rows.parents;
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
      return {
        answer,
        appends: [{ owner, stream, version: 0, actor, events: decided }],
        ...(address === undefined
          ? {}
          : {
              rows: [
                sql`INSERT INTO note_addresses (note_id, bucket, submitted_at)
                  VALUES (${id}, ${address}, clock_timestamp()) ON CONFLICT DO NOTHING`,
              ],
            }),
        jobs: [screeningJob([id])],
      };
    },
  });
  return idempotentCommand(
    {
      owner,
      space: 'note',
      key: id,
      operation: 'guestbook.submit',
      route: 'POST /api/guestbook',
      // The parsed body, which includes the defaults.
      sent: body,
      keys,
    },
    command,
  );
}
