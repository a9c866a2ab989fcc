import type { Refusal } from '../../platform/refusal.ts';
import { conflict, wrongState, wrongVersion } from '../conflict.ts';

/** A removal: its event, policy, moderator, and the end of its undo window. */
export interface Removal {
  eventId: string;
  policy: string;
  by: string;
  undoUntil: Date;
}

/** Moderators' commands on a public record, which was published without review. */
export type RemovalCommand =
  | {
      type: 'Remove';
      expectedVersion: number;
      policy: string;
      /** The moderator's message to the author. */
      message: string | null;
      /** When the moderator claimed the record for review, in ISO 8601. */
      claimedAt: string | null;
    }
  /** `anyTime` if the undo window does not apply to the moderator. */
  | { type: 'UndoRemoval'; of: string; removal: Removal | null; anyTime: boolean; now: Date }
  /** Only a moderator who did not make the removal can restore the record. */
  | { type: 'Restore'; expectedVersion: number; by: string; removal: Removal | null }
  /** Notifies the members concerned, once the removal can no longer be undone. */
  | { type: 'TellRemoval'; of: string; removal: Removal | null };

/** The part of a record's state that decides a removal. */
export interface RemovableRecord {
  status: string;
  version: number;
  /** Whether the members concerned have been notified of the current removal. */
  told: boolean;
}

export type RemovalDecision =
  | {
      type: 'Removed';
      data: { policy: string; claimed_at: string | null };
      personal: { message: string | null };
    }
  | { type: 'Restored'; data: { of: string; undone: boolean; told: boolean } }
  | { type: 'RemovalTold'; data: { of: string; policy: string } };

/** What a moderator may do with a record that members can read. */
export type RecordAction = 'keep' | 'restore' | 'remove';

/** What decides which actions a record takes, read from its stream or from its row. */
interface ReviewableRecord {
  status: string;
  /** Whether reports on the record are open, which `keep` dismisses. */
  reported?: boolean;
  /** The moderator who removed the record, whom `restore` refuses. */
  removedBy?: string | null;
}

/**
 * Returns why a record does not take an action by this moderator, or null if it does. The decider
 * and the buttons of the console both ask this rule.
 */
export function recordActionRefusal(
  { status, reported, removedBy }: ReviewableRecord,
  action: RecordAction,
  moderatorId: string | null,
): 'wrong_state' | 'second_person_required' | null {
  if (status !== (action === 'restore' ? 'removed' : 'published')) return 'wrong_state';
  if (action === 'keep' && !reported) return 'wrong_state';
  return action === 'restore' && removedBy === moderatorId ? 'second_person_required' : null;
}

/**
 * Decides a removal command for every kind of record; the record's decider names the event. Returns
 * null if there is nothing to record.
 */
export function decideRemoval(
  state: RemovableRecord,
  command: RemovalCommand,
): RemovalDecision | null | Refusal<'state_conflict'> {
  if (command.type === 'Remove') {
    if (command.expectedVersion !== state.version) return wrongVersion(state);
    if (recordActionRefusal(state, 'remove', null)) return wrongState(state);
    const { policy, message, claimedAt } = command;
    return { type: 'Removed', data: { policy, claimed_at: claimedAt }, personal: { message } };
  }
  const { removal } = command;
  if (command.type === 'TellRemoval') {
    if (state.status !== 'removed' || state.told || removal?.eventId !== command.of) return null;
    return { type: 'RemovalTold', data: { of: command.of, policy: removal.policy } };
  }
  if (command.type === 'Restore' && command.expectedVersion !== state.version)
    return wrongVersion(state);
  if (state.status !== 'removed' || !removal) return wrongState(state);
  if (command.type === 'UndoRemoval') {
    if (removal.eventId !== command.of) return wrongState(state);
    if (!command.anyTime && command.now >= removal.undoUntil) return conflict('undo_expired');
    return restored(removal, true, state.told);
  }
  const refused = recordActionRefusal({ ...state, removedBy: removal.by }, 'restore', command.by);
  if (refused) return refused === 'wrong_state' ? wrongState(state) : conflict(refused);
  return restored(removal, false, state.told);
}

const restored = ({ eventId }: Removal, undone: boolean, told: boolean): RemovalDecision => ({
  type: 'Restored',
  data: { of: eventId, undone, told },
});
