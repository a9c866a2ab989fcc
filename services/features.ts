import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';
import type { EventStore } from '../platform/eventstore/event-store.ts';
import { indexOperations } from '../platform/http/invoke.ts';
import type { Authenticators } from '../platform/http/principal.ts';
import { type Feature, feature } from '../platform/http/route.ts';
import type { KeyRing } from '../platform/keys/key-ring.ts';
import type { RateLimits } from '../platform/limits/rate-limits.ts';
import type { WaitingPlaces } from '../platform/limits/waiting-places.ts';
import type { Notifications } from '../platform/postgres/notifications.ts';
import type { Readiness } from '../platform/telemetry/readiness.ts';
import { accountContract } from './account/contract.ts';
import { accountHandlers } from './account/handlers.ts';
import { activityContract } from './activity/contract.ts';
import { activityHandlers } from './activity/handlers.ts';
import { artifactsClosing } from './artifacts/closure.ts';
import { artifactsContract } from './artifacts/contract.ts';
import { artifactsSection } from './artifacts/export.ts';
import { artifactsHandlers } from './artifacts/handlers.ts';
import { artifactSubject } from './artifacts/publication-kind.ts';
import { casesClosing } from './cases/closure.ts';
import { casesContract } from './cases/contract.ts';
import { caseSections } from './cases/export.ts';
import { casesHandlers } from './cases/handlers.ts';
import { caseNoteSubject, caseSubject } from './cases/publication-kinds.ts';
import { credentialsClosing } from './credentials/closure.ts';
import { credentialsContract } from './credentials/contract.ts';
import { credentialsSection } from './credentials/export.ts';
import { credentialsHandlers } from './credentials/handlers.ts';
import { discoveryContract } from './discovery/contract.ts';
import { discoveryHandlers } from './discovery/handlers.ts';
import { documentsContract } from './documents/contract.ts';
import { documentsHandlers } from './documents/handlers.ts';
import { notesClosing } from './guestbook/closure.ts';
import { guestbookContract } from './guestbook/contract.ts';
import { appealsSection, notesSection } from './guestbook/export.ts';
import { guestbookHandlers } from './guestbook/handlers.ts';
import type { AccountClosure } from './membership/account-closure.ts';
import { memberClosing, sessionsClosing } from './membership/closure.ts';
import { membershipContract } from './membership/contract.ts';
import { sessionsSection } from './membership/export.ts';
import type { ExportSection } from './membership/export-section.ts';
import { membershipHandlers } from './membership/handlers.ts';
import { auditContract } from './moderation/audit/contract.ts';
import { auditHandlers } from './moderation/audit/handlers.ts';
import { moderationContract } from './moderation/contract.ts';
import { moderationHandlers } from './moderation/handlers.ts';
import { policiesContract } from './moderation/policies/contract.ts';
import { policiesHandlers } from './moderation/policies/handlers.ts';
import { moderatorSessionContract } from './moderation/staff/contract.ts';
import { moderatorSessionHandlers } from './moderation/staff/handlers.ts';
import { statsContract } from './moderation/stats/contract.ts';
import { statsHandlers } from './moderation/stats/handlers.ts';
import { streamContract } from './moderation/stream/contract.ts';
import { streamHandlers } from './moderation/stream/handlers.ts';
import { pagesContract } from './pages/contract.ts';
import { pagesHandlers } from './pages/handlers.ts';
import { profileClosing } from './profiles/closure.ts';
import { profilesContract } from './profiles/contract.ts';
import { profileSection } from './profiles/export.ts';
import { profilesHandlers } from './profiles/handlers.ts';
import { profileSubject } from './profiles/publication-kind.ts';
import { a2aContract } from './protocols/a2a/contract.ts';
import { a2aHandlers } from './protocols/a2a/handlers.ts';
import { mcpContract } from './protocols/mcp/contract.ts';
import { mcpHandlers } from './protocols/mcp/handlers.ts';
import type { PublicationKind } from './publications/publication-kind.ts';
import { reportsContract } from './reports/contract.ts';
import { reportsSection } from './reports/export.ts';
import { reportsHandlers } from './reports/handlers.ts';
import { updatesContract } from './updates/contract.ts';
import { updatesHandlers } from './updates/handlers.ts';
import type { UpdatesWaiting } from './updates/waiting.ts';

export interface FeatureDeps {
  config: Config;
  keys: KeyRing;
  limits: RateLimits;
  pool: pg.Pool;
  readPool: pg.Pool;
  store: EventStore;
  readiness: Readiness;
  wakeUps: Notifications;
  /** Aborted when the process starts to shut down, to end waiting requests. */
  ending: AbortSignal;
  waiting: UpdatesWaiting;
  places: WaitingPlaces;
  bearer: Authenticators['bearer'];
  logger: Logger;
}

/** How each capability reacts when an account is closed. The member's own closing runs last. */
export const accountClosures: readonly AccountClosure[] = [
  profileClosing,
  artifactsClosing,
  casesClosing,
  notesClosing,
  sessionsClosing,
  credentialsClosing,
  memberClosing,
];

/** Record types that members publish without review; members report and moderators remove them. */
export const publicationKinds: readonly PublicationKind[] = [
  profileSubject,
  artifactSubject,
  caseSubject,
  caseNoteSubject,
];

/** Sections of an account export, in document order; the receipts and the feed follow them. */
const exportSections: readonly ExportSection[] = [
  profileSection,
  credentialsSection,
  sessionsSection,
  notesSection,
  appealsSection,
  artifactsSection,
  ...caseSections,
  reportsSection,
];

/** The contract and handlers of every capability, in the order of the OpenAPI document. */
export function createFeatures(deps: FeatureDeps): Feature[] {
  const operations = () => indexOperations(features);
  const features: Feature[] = [
    feature(discoveryContract, discoveryHandlers({ ...deps, features: () => features })),
    feature(guestbookContract, guestbookHandlers(deps)),
    feature(membershipContract, membershipHandlers(deps)),
    feature(credentialsContract, credentialsHandlers(deps)),
    feature(
      accountContract(exportSections),
      accountHandlers({ ...deps, accountClosures, exportSections }),
    ),
    feature(profilesContract, profilesHandlers(deps)),
    feature(artifactsContract, artifactsHandlers(deps)),
    feature(updatesContract, updatesHandlers(deps)),
    feature(casesContract, casesHandlers(deps)),
    feature(reportsContract, reportsHandlers({ ...deps, publicationKinds })),
    feature(activityContract, activityHandlers(deps)),
    feature(moderatorSessionContract, moderatorSessionHandlers(deps)),
    feature(moderationContract, moderationHandlers({ ...deps, publicationKinds })),
    feature(policiesContract, policiesHandlers(deps)),
    feature(auditContract, auditHandlers(deps)),
    feature(statsContract, statsHandlers(deps)),
    feature(streamContract, streamHandlers(deps)),
    ...(deps.config.a2aEnabled ? [feature(a2aContract, a2aHandlers({ ...deps, operations }))] : []),
    feature(mcpContract, mcpHandlers({ ...deps, operations })),
    feature(pagesContract, pagesHandlers()),
    feature(documentsContract, documentsHandlers({ ...deps, features: () => features })),
  ];
  return features;
}
