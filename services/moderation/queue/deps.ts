import type pg from 'pg';
import type { Config } from '../../../platform/config.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import type { Notifications } from '../../../platform/postgres/notifications.ts';
import type { ReadPast } from '../../../projections/past/past-reads.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import type { MembershipReview } from './membership-review.ts';

/** The dependencies of the moderation capability's commands and reads. */
export interface ModerationDeps {
  config: Pick<Config, 'undoWindowSeconds'>;
  keys: KeyRing;
  pool: pg.Pool;
  store: EventStore;
  wakeUps: Notifications;
  /** The kinds of records, besides notes, that can be reported and removed. */
  publicationKinds: readonly PublicationKind[];
  membershipReview: MembershipReview;
  /** Reads what stood at an earlier moment. */
  readPast: ReadPast;
}
