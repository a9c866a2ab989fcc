import { conflict, type Refusal, wrongState, wrongVersion } from '../../platform/refusal.ts';

/** The removal that stands: its event, why, who decided it, and until when it can be undone. */
export interface Removal {
  eventId: string;
  policy: string;
  by: string;
  undoUntil: Date;
}

/** What moderators do to a public record that was published without review (MODERATION.md, section 1). */
export type RemovalCommand =
  | {
      type: 'Remove';
      expectedVersion: number;
      policy: string;
      /** The moderator's word to the author. */
      message: string | null;
      /** When the moderator took the record to review it. */
      claimedAt: string | null;
    }
  /** A lead may at any time. */
  | { type: 'UndoRemoval'; of: string; removal: Removal | null; lead: boolean; now: Date }
  | { type: 'Restore'; expectedVersion: number; by: string; removal: Removal | null }
  /** The author learns of it, once it can no longer be undone. */
  | { type: 'TellRemoval'; of: string; removal: Removal | null };

/** A record as far as a removal looks at it. */
export interface Removable {
  status: string;
  version: number;
  /** Whether the author has been told of the removal that stands. */
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

/** One rule for every kind of record; the feature's decider names the event. Null: already so. */
export function decideRemoval(
  state: Removable,
  command: RemovalCommand,
): RemovalDecision | null | Refusal<'state_conflict'> {
  if (command.type === 'Remove') {
    if (command.expectedVersion !== state.version) return wrongVersion(state);
    if (state.status !== 'published') return wrongState(state);
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
    if (!command.lead && command.now >= removal.undoUntil) return conflict('undo_expired');
    return restored(removal, true, state.told);
  }
  if (command.by === removal.by) return conflict('second_person_required');
  return restored(removal, false, state.told);
}

const restored = ({ eventId }: Removal, undone: boolean, told: boolean): RemovalDecision => ({
  type: 'Restored',
  data: { of: eventId, undone, told },
});
