import type pg from 'pg';
import { accountContract } from './account/contract.ts';
import { accountHandlers } from './account/handlers.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { credentialsClosing } from './credentials/closing.ts';
import { credentialsContract } from './credentials/contract.ts';
import { credentialsSection } from './credentials/export.ts';
import { credentialsHandlers } from './credentials/handlers.ts';
import { discoveryContract } from './discovery/contract.ts';
import { discoveryHandlers } from './discovery/handlers.ts';
import type { EventStore } from './eventstore/store.ts';
import type { ExportSection } from './export-section.ts';
import { guestbookContract } from './guestbook/contract.ts';
import { guestbookHandlers } from './guestbook/handlers.ts';
import { type Feature, feature } from './http/route.ts';
import type { KeyRing } from './keys.ts';
import type { RateLimits } from './limits.ts';
import { memberClosing, sessionsClosing } from './membership/closing.ts';
import { membershipContract } from './membership/contract.ts';
import { sessionsSection } from './membership/export.ts';
import { membershipHandlers } from './membership/handlers.ts';
import { moderationContract } from './moderation/contract.ts';
import { moderationHandlers } from './moderation/handlers.ts';
import { notesClosing } from './notes/closing.ts';
import { notesSection } from './notes/export.ts';
import type { Readiness } from './readiness.ts';

export interface FeatureParts {
  config: Config;
  keys: KeyRing;
  limits: RateLimits;
  pool: pg.Pool;
  readPool: pg.Pool;
  store: EventStore;
  readiness: Readiness;
}

/** What ends with a member, feature by feature. The member comes last: nothing follows it. */
const closings: readonly Closing[] = [
  notesClosing,
  sessionsClosing,
  credentialsClosing,
  memberClosing,
];

/** What an export holds, in the order of the document; the receipts and the feed follow. */
const exportSections: readonly ExportSection[] = [
  credentialsSection,
  sessionsSection,
  notesSection,
];

/** The table: every feature's contract and handlers, in document order. */
export function featuresOf(parts: FeatureParts): Feature[] {
  return [
    feature(discoveryContract, discoveryHandlers(parts)),
    feature(guestbookContract, guestbookHandlers(parts)),
    feature(membershipContract, membershipHandlers(parts)),
    feature(credentialsContract, credentialsHandlers(parts)),
    feature(accountContract, accountHandlers({ ...parts, closings, exportSections })),
    feature(moderationContract, moderationHandlers(parts)),
  ];
}
