import { type Decider, type Refusal, refuse } from '../eventstore/decider.ts';
import type { NewEvent } from '../eventstore/event.ts';
import type * as events from './events.ts';
import type { Experience } from './experience.ts';

type NoteEvents = (typeof events)[
  | 'NoteSubmitted'
  | 'NoteApproved'
  | 'NoteRejected'
  | 'DecisionUndone'
  | 'NoteWithdrawn'
  | 'NoteErased'];

export type NoteStatus = 'pending' | 'approved' | 'rejected' | 'withdrawn';

export type NoteState =
  | { status: 'none' }
  | {
      status: NoteStatus;
      noteId: string;
      experience: Experience;
      parentId: string | null;
      /** The stream's version: one for each event. */
      version: number;
      /** The text is gone: what was decided about it stands. */
      erased: boolean;
    };

/** What is known of the note that is replied to; null where there is no such note. */
export interface ParentFacts {
  state: string;
  experience: string;
  parent_id: string | null;
  member_id: string | null;
}

export type NoteCommand =
  | {
      type: 'SubmitNote';
      noteId: string;
      experience: Experience;
      memberId: string | null;
      parentId: string | null;
      name: string;
      message: string;
      parent: ParentFacts | null;
      admission: boolean;
    }
  | {
      type: 'ApproveNote';
      expectedVersion: number;
      claimedAt: string | null;
      parent: ParentFacts | null;
    }
  | {
      type: 'RejectNote';
      expectedVersion: number;
      policy: string;
      message: string | null;
      claimedAt?: string | null;
    }
  | {
      type: 'UndoDecision';
      /** The event to undo. */
      of: string;
      /** The latest decision in the stream, where there is one. */
      last: { eventId: string; undoUntil: Date } | null;
      now: Date;
    };

export type NoteRefusal =
  | 'submission_conflict'
  | 'admission_closed'
  | 'reply_target_unavailable'
  | 'state_conflict';

/** A note waits for review until a moderator decides; a decision can be undone for a while. */
export const note: Decider<NoteState, NoteCommand, NoteEvents, NoteRefusal> = {
  initial: { status: 'none' },

  decide(state, command) {
    if (command.type === 'SubmitNote') return submit(state, command);
    if (state.status === 'none') return conflict('wrong_state', { current_state: 'none' });
    const note_id = state.noteId;

    if (command.type === 'UndoDecision') {
      const { of, last, now } = command;
      if (state.status === 'pending' || state.status === 'withdrawn' || state.erased)
        return wrongState(state);
      if (last?.eventId !== of) return wrongState(state);
      if (now >= last.undoUntil) return conflict('undo_expired', {});
      return [
        {
          type: 'DecisionUndone',
          data: { note_id, of, decision: state.status },
          personal: null,
        },
      ];
    }

    if (state.status !== 'pending') return wrongState(state);
    if (command.expectedVersion !== state.version)
      return conflict('version_mismatch', { current_version: state.version });

    if (command.type === 'RejectNote')
      return [
        {
          type: 'NoteRejected',
          data: { note_id, policy: command.policy, claimed_at: command.claimedAt ?? null },
          personal: { message: command.message },
        },
      ];

    if (state.parentId !== null && !takesReplies(command.parent, state.experience))
      return conflict('parent_not_public', {});
    return [
      {
        type: 'NoteApproved',
        data: {
          note_id,
          claimed_at: command.claimedAt,
          parent_author_id: command.parent?.member_id ?? null,
        },
        personal: null,
      },
    ];
  },

  evolve(state, event: NewEvent<NoteEvents>) {
    if (event.type === 'NoteSubmitted')
      return {
        status: 'pending',
        noteId: event.data.note_id,
        experience: event.data.experience,
        parentId: event.data.parent_id,
        version: 1,
        erased: false,
      };
    if (state.status === 'none') return state;
    const version = state.version + 1;
    if (event.type === 'NoteErased') return { ...state, version, erased: true };
    return { ...state, version, status: AFTER[event.type] };
  },
};

const AFTER = {
  NoteApproved: 'approved',
  NoteRejected: 'rejected',
  DecisionUndone: 'pending',
  NoteWithdrawn: 'withdrawn',
} as const;

function submit(state: NoteState, command: Extract<NoteCommand, { type: 'SubmitNote' }>) {
  const { noteId, experience, memberId, parentId, name, message } = command;
  if (state.status !== 'none') return refuse('submission_conflict');
  if (!command.admission) return refuse('admission_closed');
  if (parentId !== null && !takesReplies(command.parent, experience))
    return refuse('reply_target_unavailable');
  return [
    {
      type: 'NoteSubmitted' as const,
      data: {
        note_id: noteId,
        experience,
        attribution: memberId === null ? ('guest' as const) : ('member' as const),
        parent_id: parentId,
        member_id: memberId,
      },
      personal: { name, message },
    },
  ];
}

/** A reply's target is public, top-level and of the same experience. */
export function takesReplies(parent: ParentFacts | null | undefined, experience: string): boolean {
  return (
    parent?.state === 'approved' && parent.parent_id === null && parent.experience === experience
  );
}

function conflict(reason: string, details: Record<string, unknown>): Refusal<'state_conflict'> {
  return refuse('state_conflict', { reason, ...details });
}

function wrongState(state: Exclude<NoteState, { status: 'none' }>) {
  return conflict('wrong_state', { current_state: state.status, current_version: state.version });
}
