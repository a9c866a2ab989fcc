import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import type { WakeUps } from '../../platform/postgres/notifications.ts';
import type { Subject } from '../publications/publication-kind.ts';

/** What the commands and reads of this feature need, given by app.ts. */
export interface ModerationParts {
  config: Pick<Config, 'undoWindowSeconds'>;
  pool: pg.Pool;
  store: EventStore;
  wakeUps: WakeUps;
  /** What is reported and taken down beside notes. */
  subjects: readonly Subject[];
}
