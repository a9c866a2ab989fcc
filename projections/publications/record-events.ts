import type { RecordType } from '../../domain/publications/words.ts';
import type { EventTypes, NewEvent, RecordedEvent } from '../../platform/eventstore/event.ts';
import type { EventOf, Projection } from '../projection.ts';

/** The events of a kind of record that moderation follows, by their names. */
interface Names<Name extends string> {
  removed: Name;
  restored: Name;
  /** The author is notified of the removal. */
  notified: Name;
  /** The record ends without a moderator, and with it what its reports wait for. */
  withdrawn?: Name;
}

export interface RecordEvents extends Names<string> {
  /** Further events that a moderator has to have seen before a decision: they change the text, or end the record. */
  seen: readonly string[];
  /** Events in the record's stream that leave its version as it is. */
  unversioned?: readonly string[];
  /** The record that one of these events is about. */
  idOf(event: RecordedEvent): string;
}

/** A kind of record, as the read models of moderation know it. */
export interface RecordKind {
  type: RecordType;
  events: RecordEvents;
}

export const defineRecordEvents = <
  Modules extends EventTypes,
  const Name extends NewEvent<Modules[keyof Modules]>['type'],
>(
  _modules: Modules,
  events: Names<Name> & {
    seen: readonly NewEvent<Modules[keyof Modules]>['type'][];
    unversioned?: readonly NewEvent<Modules[keyof Modules]>['type'][];
    idOf(event: EventOf<Modules, Name>): string;
  },
): RecordEvents => events as unknown as RecordEvents;

type Handler = (event: RecordedEvent, type: RecordType, id: string) => ReturnType<On[string]>;
type On = Projection['on'];

/** Handlers of the events of all kinds, by what an event does to its record. */
export const recordHandlers = (
  kinds: readonly RecordKind[],
  handlers: { [Role in keyof Names<string>]?: Handler },
): On =>
  Object.fromEntries(
    kinds.flatMap(({ type, events }) =>
      Object.entries(handlers).flatMap(([role, handler]) => {
        const name = events[role as keyof Names<string>];
        return name
          ? [[name, (event: RecordedEvent) => handler(event, type, events.idOf(event))]]
          : [];
      }),
    ),
  );
