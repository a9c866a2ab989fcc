import type pg from 'pg';
import type { Config } from '../config.ts';
import type { EventStore } from '../eventstore/store.ts';
import type { WakeUps } from '../postgres/wake-ups.ts';
import type { Subject } from '../subject.ts';

/** What the commands and reads of this feature need, given by app.ts. */
export interface ModerationParts {
  config: Pick<Config, 'undoWindowSeconds'>;
  pool: pg.Pool;
  store: EventStore;
  wakeUps: WakeUps;
  /** What is reported and taken down beside notes. */
  subjects: readonly Subject[];
}
