import type { Config } from '../config.ts';
import type { EventStore } from '../eventstore/store.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { RateLimits } from '../limits/rate-limits.ts';

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
