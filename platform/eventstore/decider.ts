import type { Refusal } from '../refusal.ts';
import type { EventType, NewEvent } from './event.ts';

/** Pure: no clock, no id, no I/O. `now` and new ids are in the command. `[]` means already so. */
export interface Decider<State, Command, Types extends EventType, Code extends string = string> {
  initial: State;
  decide(state: State, command: Command): NewEvent<Types>[] | Refusal<Code>;
  evolve(state: State, event: NewEvent<Types>): State;
}

/** The state after a decider's own events: the catalogue knew each of them when it was recorded. */
export function replay<State, Types extends EventType>(
  decider: Pick<Decider<State, never, Types>, 'initial' | 'evolve'>,
  events: Iterable<NewEvent>,
): State {
  let state = decider.initial;
  for (const event of events) state = decider.evolve(state, event as NewEvent<Types>);
  return state;
}
