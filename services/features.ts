import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';
import { EventCatalogue } from '../platform/eventstore/event.ts';
import type { EventStore } from '../platform/eventstore/event-store.ts';
import type { LogWatch } from '../platform/eventstore/log-watch.ts';
import { indexOperations, type Operations } from '../platform/http/invoke.ts';
import type { Authenticators } from '../platform/http/principal.ts';
import type { Routes } from '../platform/http/route.ts';
import type { KeyRing } from '../platform/keys/key-ring.ts';
import { sweepRateCounters } from '../platform/limits/jobs.ts';
import type { RouteLimits } from '../platform/limits/route-limits.ts';
import type { WaitingPlaces } from '../platform/limits/waiting-places.ts';
import type { Engine } from '../platform/postgres/engine.ts';
import type { Notifications } from '../platform/postgres/notifications.ts';
import type { Readiness } from '../platform/telemetry/readiness.ts';
import { createPastReads, type ReadPast } from '../projections/past/past-reads.ts';
import { projector } from '../projections/projection.ts';
import { feedProjection } from '../projections/updates/feed.ts';
import { accountFeature } from './account/feature.ts';
import type { AccessEnding, AccountClosure } from './account-closure.ts';
import { activityFeature } from './activity/feature.ts';
import { artifactsFeature } from './artifacts/feature.ts';
import { casesFeature } from './cases/feature.ts';
import { credentialsFeature } from './credentials/feature.ts';
import { disablingFeature } from './disabling/feature.ts';
import { membershipReview } from './disabling/review.ts';
import { discoveryFeature } from './discovery/feature.ts';
import { documentsFeature } from './documents/feature.ts';
import type { ExportSection } from './export-section.ts';
import type { Feature } from './feature.ts';
import { guestbookFeature } from './guestbook/feature.ts';
import { membershipFeature } from './membership/feature.ts';
import type { MembershipDecisions } from './moderation/decisions/membership-decisions.ts';
import { moderationFeature } from './moderation/feature.ts';
import { noticesFeature } from './notices/feature.ts';
import { pagesFeature } from './pages/feature.ts';
import { passkeysFeature } from './passkeys/feature.ts';
import { profilesFeature } from './profiles/feature.ts';
import { protocolsFeature } from './protocols/feature.ts';
import { provingFeature } from './proving/feature.ts';
import type { ProvableRecord, PublicationKind } from './publications/publication-kind.ts';
import { reportsFeature } from './reports/feature.ts';
import { screeningFeature } from './screening/feature.ts';
import { sealFeature } from './seal/feature.ts';
import { searchFeature } from './search/feature.ts';
import { transparencyFeature } from './transparency/feature.ts';
import { updatesFeature } from './updates/feature.ts';
import type { UpdatesWaiting } from './updates/waiting.ts';

/** What a process provides to the handlers of all features. */
export interface ProcessDeps {
  config: Config;
  keys: KeyRing;
  limits: RouteLimits;
  engine: Engine;
  pool: pg.Pool;
  readPool: pg.Pool;
  store: EventStore;
  logWatch: Pick<LogWatch, 'isLost'>;
  readiness: Readiness;
  wakeUps: Notifications;
  /** Aborted when the process starts to shut down, to end waiting requests. */
  ending: AbortSignal;
  waiting: UpdatesWaiting;
  places: WaitingPlaces;
  bearer: Authenticators['bearer'];
  logger: Logger;
}

/** What the features provide to each other, collected from `FEATURES`. */
interface SharedDeps {
  accountClosures: readonly AccountClosure[];
  disablingEndings: readonly AccessEnding[];
  recoveryEndings: readonly AccessEnding[];
  exportSections: readonly ExportSection[];
  publicationKinds: readonly PublicationKind[];
  provableRecords: readonly ProvableRecord[];
  membershipReview: MembershipDecisions;
  /** Reads what stood at an earlier moment; one for the process, which limits how many run. */
  readPast: ReadPast;
  /** The routes and operations of this instance; call these only once a request arrives. */
  routes: () => readonly Routes[];
  operations: () => Operations;
}

/**
 * Every capability, in the order of the OpenAPI document, of the sections of an export, and in which
 * an event updates the read models.
 */
const FEATURES: readonly Feature<ProcessDeps & SharedDeps>[] = [
  discoveryFeature,
  guestbookFeature,
  membershipFeature,
  credentialsFeature,
  passkeysFeature,
  accountFeature,
  profilesFeature,
  artifactsFeature,
  updatesFeature,
  casesFeature,
  reportsFeature,
  activityFeature,
  searchFeature,
  screeningFeature,
  moderationFeature,
  disablingFeature,
  noticesFeature,
  transparencyFeature,
  sealFeature,
  provingFeature,
  protocolsFeature,
  pagesFeature,
  documentsFeature,
];

/** Every event that the log can have. */
export const catalogue = new EventCatalogue(
  FEATURES.flatMap(({ events }) => (events ? [events] : [])),
);

export const publicationKinds = FEATURES.flatMap(({ publicationKinds: kinds }) => kinds ?? []);

const activityEntries = FEATURES.flatMap(({ activity }) => (activity ? [activity] : []));

const feed = feedProjection(FEATURES.flatMap(({ feed: entries }) => (entries ? [entries] : [])));

/** Every read model; the feed comes last. */
export const projections = [
  ...FEATURES.flatMap(({ readModels = [] }) =>
    typeof readModels === 'function'
      ? readModels({ publicationKinds, activityEntries })
      : readModels,
  ),
  feed.projection,
];

export const project = projector(projections);
const projectDistributed = projector(projections, { distributed: true });

/** What updates the read models when events are appended. */
export const projectorFor = ({ distributed }: Engine) =>
  distributed ? projectDistributed : project;

export const affectedMembers = feed.affectedMembers;

/** Every type of job. */
export const jobTypes = [...FEATURES.flatMap(({ jobs = [] }) => jobs), sweepRateCounters];

export const accountClosures = FEATURES.flatMap(({ closure }) => closure ?? []);

/** What ends with the disabling of a membership. */
export const disablingEndings = FEATURES.flatMap(({ disabling }) => disabling ?? []);

/** What ends with the recovery of a member's keys. */
const recoveryEndings = FEATURES.flatMap(({ recovery }) => recovery ?? []);

const provableRecords = FEATURES.flatMap(({ provableRecords: records }) => records ?? []);

const exportSections = FEATURES.flatMap(({ exportSections: sections }) => sections ?? []);

/** Loads and creates the routes of all features, and indexes their operations. */
export async function createRoutes(
  deps: ProcessDeps,
): Promise<{ routes: Routes[]; operations: Operations }> {
  const { pool, store } = deps;
  const readPast = createPastReads({ pool, catalogue: store.catalogue, projections });
  const loaded = await Promise.all(FEATURES.flatMap(({ routes: load }) => load?.() ?? []));
  const routes: Routes[] = loaded.flatMap((module) =>
    module.routes({
      ...deps,
      accountClosures,
      disablingEndings,
      recoveryEndings,
      exportSections,
      publicationKinds,
      provableRecords,
      membershipReview,
      readPast,
      routes: () => routes,
      operations: () => operations,
    }),
  );
  const operations = indexOperations(routes, deps.config);
  return { routes, operations };
}
