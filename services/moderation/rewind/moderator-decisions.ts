import { isUndoable } from '../../../domain/guestbook/undo.ts';
import { type DecidedAction, decidedAction } from '../../../domain/moderation/decided.ts';
import { reviewSubject, type Subject } from '../../../domain/moderation/subject.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import type { AuditRow } from '../../../projections/moderation/audit.ts';
import type { LeftEntry } from './contract.ts';

/** A decision of a moderator, as the log has it. */
export interface ModeratorDecision {
  eventId: string;
  position: number;
  subject: LeftEntry['subject'];
  action: DecidedAction;
  undoable: boolean;
}

/** The decision that an event made; undefined for all other events of a moderator. */
export function toDecision(
  event: Pick<AuditRow | RecordedEvent, 'event_id' | 'position' | 'stream_id' | 'type' | 'data'>,
): ModeratorDecision | undefined {
  const { event_id: eventId, position, stream_id, type } = event;
  const action = decidedAction(type);
  if (!action) return undefined;
  const subject = reviewSubject(stream_id) as Subject;
  return {
    eventId,
    position,
    subject,
    action,
    undoable: isUndoable(event),
  };
}

/**
 * The decisions of a moderator in the stream of a note since a time, newest first. Leaves out events that only
 * accompany another, and undos of decisions that are listed themselves.
 */
export function decisionsOnNote(
  events: readonly RecordedEvent[],
  moderatorId: string,
  since: Date,
): ModeratorDecision[] {
  const own = events.filter(
    ({ actor, recorded_at }) => actor.id === moderatorId && recorded_at >= since,
  );
  const ids = new Set(own.map(({ event_id }) => event_id));
  const beside = (event: RecordedEvent) =>
    event.type === 'NoteRestored' && events[events.indexOf(event) - 1]?.type === 'DecisionUndone';
  const ofOwn = ({ type, data }: RecordedEvent) =>
    type === 'DecisionUndone' && ids.has((data as { of: string }).of);
  return own
    .filter((event) => !beside(event) && !ofOwn(event))
    .flatMap((event) => toDecision(event) ?? [])
    .toReversed();
}

/** The decisions in the stream of a note that were undone. */
export const undoneOnNote = (events: readonly RecordedEvent[]): Set<string> =>
  new Set(
    events.flatMap(({ type, data }) =>
      type === 'DecisionUndone' ? (data as { of: string }).of : [],
    ),
  );
