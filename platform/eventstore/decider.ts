import type { Refusal } from '../refusal.ts';
import type { EventType, NewEvent } from './event.ts';

/** What a decider returns: the events to append, or why the command is refused. */
export type EventsOrRefusal<Types extends EventType, Code extends string> =
  | NewEvent<Types>[]
  | Refusal<Code>;

/**
 * A pure decision function: no clock, no random ids, no I/O; the command carries `now` and new ids.
 * `decide` returns `[]` if the state is already as the command wants it.
 */
export interface Decider<State, Command, Types extends EventType, Code extends string = string> {
  initial: State;
  decide(state: State, command: Command): EventsOrRefusal<Types, Code>;
  evolve(state: State, event: NewEvent<Types>): State;
}

/**
 * Folds a stream's events into the state. The cast is safe: the catalogue checked each event's type
 * when the event was recorded.
 */
export function replay<State, Types extends EventType>(
  decider: Pick<Decider<State, never, Types>, 'initial' | 'evolve'>,
  events: Iterable<NewEvent>,
): State {
  let state = decider.initial;
  for (const event of events) state = decider.evolve(state, event as NewEvent<Types>);
  return state;
}
