import { isRefusal, type Refusal } from '../refusal.ts';
import { type OwnAppend, readFacts, streamVersion } from './append.ts';
import { type Decider, type EventsOrRefusal, replay } from './decider.ts';
import type { Actor, EventType, NewEvent } from './event.ts';
import { type DerivedLoad, derive } from './load.ts';
import type { Owner } from './owner.ts';

/** One stream as a command found it: the state to decide on, and the version to append after. */
export interface Stream<State, Command, Types extends EventType, Code extends string> {
  readonly state: State;
  readonly version: number;
  /** Decides on the command. */
  decide(command: Command): Decided<State> | Refusal<Code>;
  /** Appends events that a function of the decider has decided. */
  append(events: readonly NewEvent<Types>[]): Decided<State>;
  append<Refused extends string>(
    decided: EventsOrRefusal<Types, Refused>,
  ): Decided<State> | Refusal<Refused>;
}

/** What was decided on a stream, and the state that it leaves. */
export interface Decided<State> {
  readonly appends: readonly OwnAppend[];
  readonly state: State;
  readonly version: number;
}

/**
 * Defines the streams of a decider, which are named `<kind>-<id>`. Events of the types in `actors` are
 * recorded with the given actor instead of the command's.
 */
export function defineStream<State, Command, Types extends EventType, Code extends string>(
  kind: string,
  decider: Decider<State, Command, Types, Code>,
  actors: { readonly [Type in Types['type']]?: Actor } = {},
) {
  type Found<Of extends State> = Stream<Of, Command, Types, Code>;
  const name = (id: string) => `${kind}-${id}`;

  /** A stream whose state and version are known from elsewhere, such as a read model. */
  function at<Of extends State>(owner: Owner, id: string, version: number, state: Of): Found<Of> {
    const accept = (events: readonly NewEvent<Types>[]): Decided<Of> => ({
      appends: byActor(events, actors).map((run) => ({
        owner,
        stream: name(id),
        version: version + run.from,
        actor: run.actor,
        events: run.events,
      })),
      state: events.reduce<State>(decider.evolve, state) as Of,
      version: version + events.length,
    });
    const append = <Refused extends string>(decided: EventsOrRefusal<Types, Refused>) =>
      isRefusal(decided) ? decided : accept(decided);
    return {
      state,
      version,
      append: append as Found<Of>['append'],
      decide: (command) => append(decider.decide(state, command)),
    };
  }

  return {
    name,
    at,
    /** A stream that has no event yet; the log refuses the append if that is not so. */
    create: (owner: Owner, id: string) => at(owner, id, 0, decider.initial),
    /** Loads the stream and replays it, without the personal data of its events. */
    load: (owner: Owner, id: string): DerivedLoad<Found<State>> =>
      derive(readFacts(owner, name(id)), (events) =>
        at(owner, id, streamVersion(events), replay(decider, events)),
      ),
  };
}

interface Run {
  actor: Actor | undefined;
  /** The number of events before the run. */
  from: number;
  events: NewEvent[];
}

/** Splits events into runs of one actor each. */
function byActor(
  events: readonly NewEvent[],
  actors: Readonly<Record<string, Actor | undefined>>,
): Run[] {
  const runs: Run[] = [];
  for (const [from, event] of events.entries()) {
    const actor = actors[event.type];
    const last = runs.at(-1);
    if (last && last.actor === actor) last.events.push(event);
    else runs.push({ actor, from, events: [event] });
  }
  return runs;
}
