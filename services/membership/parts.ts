import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { RateLimits } from '../../platform/limits/rate-limits.ts';

/** What the commands and reads of this feature need, given by app.ts. */
export interface MembershipParts {
  store: EventStore;
  keys: KeyRing;
  limits: RateLimits;
  config: Pick<
    Config,
    'limitMembers' | 'limitRegistrationsPerDay' | 'limitKeyAttempts' | 'membershipOpen'
  >;
}
