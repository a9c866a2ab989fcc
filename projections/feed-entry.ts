import type { Actor, EventTypes, NewEvent, RecordedEvent } from '../platform/eventstore/event.ts';
import type { UpdateType } from '../services/updates/update-type.ts';
import type { EventOf } from './projection.ts';

/** What one member's feed says of an event. `data` holds facts and ids, never free text. */
export interface FeedEntry {
  member: string;
  type: UpdateType;
  subject: { type: string; id: string };
  data: Record<string, unknown>;
  /** Where the member is told of another actor than the event's. */
  actor?: Actor;
}

/** For each event type of a feature: the entries it makes, one for each member concerned. */
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
