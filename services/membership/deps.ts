import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { RouteLimits } from '../../platform/limits/route-limits.ts';
import type { AccessEnding } from '../account-closure.ts';

/** The dependencies of this capability's commands and reads; `compose.ts` provides them. */
export interface MembershipDeps {
  store: EventStore;
  keys: KeyRing;
  limits: RouteLimits;
  config: Pick<Config, 'limitMembers' | 'membershipOpen'>;
  /** What ends with a recovery: sessions, credentials and passkeys. */
  recoveryEndings: readonly AccessEnding[];
}
