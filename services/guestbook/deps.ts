import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { RateLimits } from '../../platform/limits/rate-limits.ts';

/** Dependencies of the guestbook's commands and reads, injected by `services/compose.ts`. */
export interface GuestbookDeps {
  store: EventStore;
  keys: KeyRing;
  limits: RateLimits;
  config: Pick<
    Config,
    | 'guestbookOpen'
    | 'limitNotesPerTenMinutes'
    | 'limitNotesPerDay'
    | 'limitGuestNotesPerHour'
    | 'undoWindowSeconds'
  >;
  readPool: pg.Pool;
}
