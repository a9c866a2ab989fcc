import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import type { WakeUps } from '../../platform/postgres/notifications.ts';
import type { Subject } from '../publications/publication-kind.ts';

/** The dependencies of the moderation capability's commands and reads. */
export interface ModerationParts {
  config: Pick<Config, 'undoWindowSeconds'>;
  pool: pg.Pool;
  store: EventStore;
  wakeUps: WakeUps;
  /** The kinds of records, besides notes, that can be reported and removed. */
  subjects: readonly Subject[];
}
