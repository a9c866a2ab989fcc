import type { EventTypes } from '../platform/eventstore/event.ts';
import type { FeedEntries } from './feed-entry.ts';
import type { Projection } from './projection.ts';

/** The events and read models of one capability; `registry.ts` lists all of them. */
export interface ProjectionFeature {
  /** The module that defines the capability's events. */
  events?: EventTypes;
  /** The capability's read models, in the order in which an event updates them. */
  readModels?: readonly Projection[];
  /** The entries that the capability's events add to members' feeds. */
  feed?: FeedEntries;
}
