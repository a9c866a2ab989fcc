import type { UpdateType } from '../domain/updates/update-type.ts';
import type { Actor, EventTypes, NewEvent, RecordedEvent } from '../platform/eventstore/event.ts';
import type { EventOf } from './projection.ts';

/**
 * One entry that an event adds to the feed of a member. `data` holds facts and ids, never free
 * text.
 */
export interface FeedEntry {
  member: string;
  type: UpdateType;
  subject: { type: string; id: string };
  data: Record<string, unknown>;
  /** The actor that the member sees, if it differs from the event's. */
  actor?: Actor;
}

/** The entries that each event type of a capability creates, one for each affected member. */
export type FeedEntries = Readonly<
  Record<string, (event: RecordedEvent) => FeedEntry | readonly FeedEntry[]>
>;

export function defineFeedEntries<Modules extends EventTypes>(
  _modules: Modules,
  entries: {
    [Name in NewEvent<Modules[keyof Modules]>['type']]?: (
      event: EventOf<Modules, Name>,
    ) => FeedEntry | readonly FeedEntry[];
  },
): FeedEntries {
  return entries as unknown as FeedEntries;
}
