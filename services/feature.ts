import type { EventTypes } from '../platform/eventstore/event.ts';
import type { Routes } from '../platform/http/route.ts';
import type { JobType } from '../platform/jobs/job-type.ts';
import type { ActivityEntries } from '../projections/activity-entry.ts';
import type { FeedEntries } from '../projections/feed-entry.ts';
import type { Projection } from '../projections/projection.ts';
import type { AccessEnding, AccountClosure } from './account-closure.ts';
import type { ExportSection } from './export-section.ts';
import type { ProvableRecord, PublicationKind } from './publications/publication-kind.ts';

/** What read models over the events of several capabilities are made of. */
export interface ForReadModels {
  publicationKinds: readonly PublicationKind[];
  activityEntries: readonly ActivityEntries[];
}

/** What one capability adds to the service; `features.ts` lists all of them. */
export interface Feature<Deps> {
  /** The module that defines the capability's events. */
  events?: EventTypes;
  /** The capability's read models, in the order in which an event updates them. */
  readModels?: readonly Projection[] | ((features: ForReadModels) => readonly Projection[]);
  /** The entries that the capability's events add to members' feeds. */
  feed?: FeedEntries;
  /** The entries that the capability's events add to the public activity. */
  activity?: ActivityEntries;
  /** The types of the capability's jobs; `workers/` has the functions that run them. */
  jobs?: readonly JobType[];
  /**
   * Loads the capability's contracts with their handlers, in the order of the OpenAPI document. Only a web
   * process does: workers and commands start in half the time without them.
   */
  routes?: () => Promise<{ routes: (deps: Deps) => readonly Routes[] }>;
  /** How the capability reacts when an account is closed. */
  closure?: AccountClosure;
  /** What ends with the disabling of a membership, in one transaction with it. */
  disabling?: AccessEnding;
  /** What ends with the recovery of a member's keys, in one transaction with it. */
  recovery?: AccessEnding;
  /** The capability's sections of an account export, in document order. */
  exportSections?: readonly ExportSection[];
  /** Record types that members publish without review, and moderators can remove. */
  publicationKinds?: readonly PublicationKind[];
  /** Public records of which everyone gets a proof that they are in the sealed log. */
  provableRecords?: readonly ProvableRecord[];
}
