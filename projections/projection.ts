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

/** The only function that moves a read model, inline at append and in a rebuild alike. */
export function projector(projections: readonly Projection[]): (event: RecordedEvent) => Sql[] {
  const handlers = new Map<string, Projection['on'][string][]>();
  const add = (type: string, handler: Projection['on'][string]) =>
    handlers.set(type, [...(handlers.get(type) ?? []), handler]);
  for (const { on, texts = [] } of projections) {
    for (const [type, handler] of Object.entries(on)) add(type, handler);
    // A rebuild that read an event before its text was erased comes to this one after it.
    for (const text of texts)
      if (text.member) add('MemberErased', ({ owner_id }) => eraseTexts(text, owner_id));
  }
  return (event) => (handlers.get(event.type) ?? []).flatMap((handler) => handler(event));
}
