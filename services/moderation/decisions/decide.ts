import { note } from '../../../domain/guestbook/note.ts';
import type { NoteEvents } from '../../../domain/guestbook/state.ts';
import { notifiedAt } from '../../../domain/publications/undo.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import {
  type Command,
  type Decision,
  defineCommand,
  type Writes,
} from '../../../platform/eventstore/event-store.ts';
import { isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import { findPolicy } from '../../../projections/moderation/policies.ts';
import { shareLockModerator } from '../staff/lock-moderator.ts';
import type { Decided, DecideRefusal } from './contract.ts';
import { membersConcerned } from './decide-rows.ts';
import {
  type Accepted,
  type DeskOptions,
  type Moderator,
  notesLoad,
  openDesk,
  type RequestedDecision,
} from './desk.ts';
import { type Request, wrongRequest } from './request.ts';

export type Result = Decided | Refusal<DecideRefusal>;

/** The command for one decision; it is refused if the decision is refused. */
export function reviewCommand(
  me: Moderator,
  asked: RequestedDecision,
  options: DeskOptions,
  request: Request = {},
): Command<Decided, DecideRefusal> {
  const many = reviewsCommand(me, [asked], options, request);
  return {
    ...many,
    decide(loaded): Decision<Decided, DecideRefusal> {
      const decision = many.decide(loaded);
      if (isRefusal(decision)) return decision;
      if ('unchanged' in decision) return decision.unchanged[0] as Refusal<DecideRefusal>;
      const { answer } = decision as Writes<Result[]> & {
        answer: (events: RecordedEvent[]) => Result[];
      };
      return { ...decision, answer: (events: RecordedEvent[]) => answer(events)[0] as Decided };
    },
  };
}

/** The command for several decisions in one transaction; each is accepted or refused separately. */
export function reviewsCommand(
  me: Moderator,
  asked: readonly RequestedDecision[],
  options: DeskOptions,
  request: Request = {},
): Command<Result[], 'moderator_required' | 'role_required' | 'invalid_request'> {
  const ids = [...new Set(asked.map(({ noteId }) => noteId))];
  const takeOvers = asked.filter(({ overrides }) => overrides !== 'claims' && overrides.takeOver);
  const notes = notesLoad(
    ids,
    takeOvers.map(({ noteId }) => noteId),
  );
  const policies = 'policy' in request ? findPolicy(request.policy) : null;
  return defineCommand({
    find: membersConcerned(ids),
    load: { moderators: shareLockModerator(me), notes, policies },
    decide({ rows, now }) {
      const [live] = rows.moderators;
      if (!live) return refuse('moderator_required');
      const barred = asked.find(({ roles }) => roles?.includes(live.role) === false);
      if (barred) return refuse('role_required', { roles: barred.roles });
      const wrong = wrongRequest(request, rows.policies, now);
      if (wrong) return wrong;
      const desk = openDesk({ ...me, role: live.role }, rows.notes, now, options);
      const results = new Map<string, Accepted | Refusal<DecideRefusal>>();
      for (const item of desk.inOrder(asked)) results.set(item.noteId, desk.review(item));
      const accepted = [...results.values()].filter(
        (result): result is Accepted => !isRefusal(result),
      );
      const answer = (events: RecordedEvent[]): Result[] =>
        asked.map(({ noteId }) => {
          const result = results.get(noteId) ?? refuse('not_found' as const);
          return isRefusal(result) ? result : decided(result, events, options.undoSeconds);
        });
      if (accepted.length === 0) return { unchanged: answer([]) };
      return { answer, ...desk.writes(accepted) };
    },
  });
}

const UNDOABLE = ['NoteApproved', 'NoteRejected', 'NoteRemoved', 'NoteDeferred', 'NoteEscalated'];

/** The answer to an accepted decision, given the events that were recorded. */
export function decided(
  { append, before }: Accepted,
  recorded: RecordedEvent[],
  undoSeconds: number,
): Decided {
  const events = recorded.filter(({ stream_id }) => stream_id === append.stream);
  const event = events.at(-1);
  const after = (events as RecordedEvent<NoteEvents>[]).reduce(note.evolve, before);
  if (!event || after.status === 'none') throw new Error('a decision without an event');
  const { type, event_id, stream_version: version, recorded_at } = event;
  const undoable = UNDOABLE.includes(type) || 'undoable' in (event.data as object);
  const tier = after.status === 'pending' ? { tier: after.tier } : {};
  return {
    status: events.some(({ type }) => type === 'DecisionUndone') ? 'undone' : 'decided',
    event_id,
    state: after.status,
    ...tier,
    version,
    undo_until: undoable ? notifiedAt(recorded_at, undoSeconds).toISOString() : null,
  };
}
