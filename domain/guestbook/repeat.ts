import type { EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { conflict, wrongState } from '../conflict.ts';
import type { Role } from '../permissions.ts';
import { undoRefusal } from '../publications/undo.ts';
import { evolveDecided } from './evolve.ts';
import { decideReview, type ReviewCommand } from './moderator-decisions.ts';
import type { Decision, ExistingNote, NoteEvents } from './state.ts';

/** A decision that a rewind undid. */
export interface RewoundDecision {
  kind: Decision['kind'];
  policy: string | null;
  message: string | null;
  /** Until when the note was deferred, in ISO 8601. */
  until: string | null;
}

export interface RepeatDecisions {
  /** What the rewind undid on the note, oldest first. */
  decisions: readonly RewoundDecision[];
  /** The last undo of the rewind on the note: its version, its lead, its time. */
  rewind: { version: number; leadId: string; at: Date };
  /** The moderator whose decisions they were. */
  decidedBy: string | null;
  moderatorId: string;
  role: Role;
  batchId: string;
  undoSeconds: number;
  now: Date;
}

/**
 * Undoes the rewind of a note: the moderator makes the decisions again that it undid, unless another
 * decision came after it, or one of them would make the note public.
 */
export function repeatDecisions(
  before: ExistingNote,
  command: RepeatDecisions,
): EventsOrRefusal<NoteEvents, 'state_conflict' | 'role_required'> {
  const { rewind, decisions, now, undoSeconds } = command;
  const decision = {
    kind: 'rewound',
    moderatorId: rewind.leadId,
    at: rewind.at,
    appealed: false,
    reviewed: command.decidedBy,
  };
  const refused = undoRefusal({ decision, me: command, undoSeconds, now });
  if (refused) return refused;
  if (before.reviewVersion !== rewind.version) return wrongState(before);
  if (decisions.some(({ kind }) => kind === 'approved' || kind === 'granted'))
    return conflict('second_person_required');
  const events: NewEvent<NoteEvents>[] = [];
  let state = before;
  for (const decision of decisions) {
    const review = toReview(state, decision, command);
    const made = review ? decideReview(state, review) : wrongState(before);
    if (isRefusal(made)) return made;
    state = evolveDecided(state, made, command);
    events.push(...made);
  }
  return events;
}

/** The command that makes the decision again; null for a deferral that would have ended. */
function toReview(
  { reviewVersion }: ExistingNote,
  { kind, policy, message, until }: RewoundDecision,
  { moderatorId, batchId, now }: RepeatDecisions,
): ReviewCommand | null {
  const common = { expectedVersion: reviewVersion, claimedAt: null, batchId };
  switch (kind) {
    case 'rejected':
      return { ...common, type: 'RejectNote', policy: policy ?? '', message };
    case 'escalated':
      return { ...common, type: 'EscalateNote', why: message ?? '' };
    case 'deferred': {
      const end = until === null ? now : new Date(until);
      return end > now ? { ...common, type: 'DeferNote', until: end, lead: true } : null;
    }
    case 'kept':
      return { ...common, type: 'KeepNote' };
    case 'upheld':
      return { ...common, type: 'UpholdAppeal', moderatorId, message };
    default:
      return null;
  }
}
