import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { RateLimits } from '../../platform/limits/rate-limits.ts';

/** What the commands and reads of this feature need, given by app.ts. */
export interface GuestbookParts {
  store: EventStore;
  keys: KeyRing;
  limits: RateLimits;
  config: Pick<
    Config,
    'guestbookOpen' | 'limitNotesPerTenMinutes' | 'limitNotesPerDay' | 'undoWindowSeconds'
  >;
  readPool: pg.Pool;
}
