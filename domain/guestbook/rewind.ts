import type { NewEvent } from '../../platform/eventstore/event.ts';
import { isRefusal, type Refusal } from '../../platform/refusal.ts';
import { evolveDecided } from './evolve.ts';
import { type ExistingNote, type NoteEvents, undoableDecision } from './state.ts';
import { decideUndo, type UndoDecision } from './undo.ts';

/** Why a rewind leaves a decision as it is. */
export const LEFT_REASONS = [
  'undone',
  'superseded',
  'appealed',
  'erased',
  'author_gone',
  'second_person_required',
  'not_undoable',
  'not_included',
] as const;
export type LeftReason = (typeof LEFT_REASONS)[number];

/** A decision of the moderator whose decisions are undone. */
export interface ChosenDecision {
  eventId: string;
  /** Whether `isUndoable` holds for its event. */
  undoable: boolean;
}

export type RewindNote = Omit<UndoDecision, 'type' | 'expectedVersion' | 'of'> & {
  /** The moderator's decisions on the note, newest first. */
  decisions: readonly ChosenDecision[];
  /** Decisions that were undone before. */
  undone: ReadonlySet<string>;
  /** Whether the text of the note is erased. */
  erased: boolean;
};

export interface Rewound {
  events: NewEvent<NoteEvents>[];
  undone: string[];
  left: { eventId: string; reason: LeftReason }[];
}

/**
 * Undoes what one moderator decided on a note, the newest decision first, as `decideUndo` allows; but it
 * makes nothing public, and leaves what an author has appealed against.
 */
export function rewindNote(before: ExistingNote, command: RewindNote): Rewound {
  const rewound: Rewound = { events: [], undone: [], left: [] };
  let state = before;
  for (const decision of command.decisions) {
    const made = rewindOne(state, decision, command);
    if (typeof made === 'string') {
      rewound.left.push({ eventId: decision.eventId, reason: made });
      continue;
    }
    state = evolveDecided(state, made, command);
    rewound.events.push(...made);
    rewound.undone.push(decision.eventId);
  }
  return rewound;
}

function rewindOne(
  state: ExistingNote,
  { eventId, undoable }: ChosenDecision,
  { erased, undone, authorGone, decisions: _, ...undo }: RewindNote,
): LeftReason | NewEvent<NoteEvents>[] {
  if (undone.has(eventId)) return 'undone';
  if (authorGone) return 'author_gone';
  if (erased) return 'erased';
  if (!undoable) return 'not_undoable';
  const decision = undoableDecision(state, eventId);
  if (!decision) return 'superseded';
  const refused = decision.kind === 'rejected' || decision.kind === 'removed';
  if (refused && 'appeal' in state && ['open', 'upheld'].includes(state.appeal.status))
    return 'appealed';
  if (decision.kind === 'removed') return 'second_person_required';
  const command = { ...undo, authorGone, type: 'UndoDecision' as const, expectedVersion: null };
  const made = decideUndo(state, { ...command, of: eventId });
  return isRefusal(made) ? reasonOf(made) : made;
}

/** A deferral that has ended is in no state to be undone. */
const reasonOf = ({ details }: Refusal): LeftReason =>
  details?.reason === 'second_person_required' ? 'second_person_required' : 'superseded';
