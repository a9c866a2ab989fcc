import type { EventTypes, NewEvent, RecordedEvent } from '../services/eventstore/event.ts';
import type { Sql } from '../services/eventstore/sql.ts';
import { eraseTexts, type Texts } from './texts.ts';

type Types<Modules extends EventTypes> = Modules[keyof Modules];

/** The recorded event of one name in the given event modules. */
export type EventOf<Modules extends EventTypes, Name> = RecordedEvent<
  Extract<Types<Modules>, { type: Name }>
>;

/**
 * One read model. The keys of `on` are its subscription. A handler uses nothing but the event: no
 * clock, no randomness, no other projection's table. `position` is not known yet when it runs.
 */
export interface Projection {
  name: string;
  tables: readonly string[];
  /** The columns that hold names and free text; a migration keeps them out of the statistics. */
  texts?: readonly Texts[];
  /** What the tables hold before the first event. */
  seed?: readonly Sql[];
  on: Readonly<Record<string, (event: RecordedEvent) => Sql | readonly Sql[]>>;
}

export function defineProjection<Modules extends EventTypes>(
  _modules: Modules,
  projection: {
    name: string;
    tables: readonly string[];
    texts?: readonly Texts[];
    seed?: readonly Sql[];
    on: {
      [Name in NewEvent<Types<Modules>>['type']]?: (
        event: EventOf<Modules, Name>,
      ) => Sql | readonly Sql[];
    };
  },
): Projection {
  return projection as unknown as Projection;
}

/**
 * The only function that moves read models, inline at append and in a rebuild alike: one after the
 * other, each by all the events, so that statements of one kind stand together.
 */
export function projector(
  projections: readonly Projection[],
): (events: readonly RecordedEvent[]) => Sql[] {
  return (events) =>
    projections.flatMap((projection) => events.flatMap((event) => moves(projection, event)));
}

function moves({ on, texts = [] }: Projection, event: RecordedEvent): readonly Sql[] {
  const own = [on[event.type]?.(event) ?? []].flat();
  if (event.type !== 'MemberErased') return own;
  // A rebuild that read an event before its text was erased comes to this one after it.
  const erased = texts.filter(({ member }) => member);
  return [...own, ...erased.map((text) => eraseTexts(text, event.owner_id))];
}
