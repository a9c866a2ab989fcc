import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { RouteLimits } from '../../platform/limits/route-limits.ts';

/** Dependencies of the guestbook's commands and reads, injected by `services/compose.ts`. */
export interface GuestbookDeps {
  store: EventStore;
  keys: KeyRing;
  limits: RouteLimits;
  config: Pick<Config, 'guestbookOpen' | 'undoWindowSeconds'>;
  readPool: pg.Pool;
}
