import type { EventTypes, NewEvent, RecordedEvent } from '../platform/eventstore/event.ts';
import { type Engine, ONE_SERVER } from '../platform/postgres/engine.ts';
import type { Sql } from '../platform/sql.ts';
import { eraseTexts, type Texts } from './erasable-texts.ts';

type Types<Modules extends EventTypes> = Modules[keyof Modules];

/** The recorded event of one name in the given event modules. */
export type EventOf<Modules extends EventTypes, Name> = RecordedEvent<
  Extract<Types<Modules>, { type: Name }>
>;

/**
 * One read model. The keys of `on` are its subscription. A handler uses only the event: no clock, no
 * randomness; its statements use only the projection's tables, and those of projections that it says it
 * comes after. `position` is not assigned yet when the handler runs.
 */
export interface Projection {
  name: string;
  tables: readonly string[];
  /** The columns with names and free text; a migration keeps them out of the statistics. */
  texts?: readonly Texts[];
  /** Statements for the rows that exist before the first event. */
  seed?: readonly Sql[];
  /**
   * Run at the end of a rebuild: copies texts that the log has lost from the present table, in the
   * schema `public`, and returns what they belong to.
   */
  keepLost?: Sql<{ kept: string }>;
  on: Readonly<Record<string, (event: RecordedEvent) => Sql | readonly Sql[]>>;
  /** The same in statements of one owner each, for tables that are distributed over a cluster. */
  onCluster?: Projection['on'];
}

export type Handlers<Modules extends EventTypes> = {
  [Name in NewEvent<Types<Modules>>['type']]?: (
    event: EventOf<Modules, Name>,
  ) => Sql | readonly Sql[];
};

/** Types the handlers of some of the events of a projection. */
export const defineHandlers = <Modules extends EventTypes, Of extends Handlers<Modules>>(
  _modules: Modules,
  handlers: Of & Handlers<Modules>,
): Of => handlers;

export function defineProjection<Modules extends EventTypes>(
  _modules: Modules,
  projection: Omit<Projection, 'on'> & { on: Handlers<Modules> },
): Projection {
  return projection as unknown as Projection;
}

type Handler = NonNullable<Projection['on'][string]>;

/**
 * The only function that updates read models, both on append and in a rebuild. Projections run one
 * after another, each on all events, so that statements of one kind are adjacent.
 */
export function projector(
  projections: readonly Projection[],
  { distributed }: Engine = ONE_SERVER,
): (events: readonly RecordedEvent[]) => Sql[] {
  const handlers = new Map<string, { turn: number; handler: Handler }[]>();
  const add = (type: string, turn: number, handler: Handler) =>
    handlers.set(type, [...(handlers.get(type) ?? []), { turn, handler }]);
  for (const [turn, { on, onCluster = on, texts = [] }] of projections.entries()) {
    for (const [type, handler] of Object.entries(distributed ? onCluster : on))
      add(type, turn, handler);
    // A rebuild may read an event before its text is erased; `MemberErased` then erases the copy.
    for (const text of texts)
      if (text.member) add('MemberErased', turn, ({ owner_id }) => eraseTexts(text, owner_id));
  }
  return (events) => {
    const made: { turn: number; statements: Sql | readonly Sql[] }[] = [];
    for (const event of events)
      for (const { turn, handler } of handlers.get(event.type) ?? [])
        made.push({ turn, statements: handler(event) });
    return made.sort((one, other) => one.turn - other.turn).flatMap(({ statements }) => statements);
  };
}
