import type { NoteRow } from '../projections/notes.ts';
import type { Config } from '../services/config.ts';
import { type Sql, sql } from '../services/eventstore/sql.ts';
import type { EventStore } from '../services/eventstore/store.ts';
import { erasePlan } from '../services/notes/erase.ts';
import { query } from '../services/postgres/reading.ts';
import { inBatches } from './batches.ts';

interface Parts {
  store: EventStore;
  config: Pick<Config, 'retentionRejectedDays' | 'retentionWithdrawnDays'>;
}

/**
 * Erases the text of notes that are past their retention; answers how many. Each note is a
 * transaction of its own, so a run that is cut short goes on where it was.
 */
export function retention({ store, config }: Parts): Promise<number> {
  return inBatches(
    (limit) => query(store.pool, pastRetention(config, limit)),
    async (row) => (await store.execute(erasePlan(row, 'retention'))) === true,
  );
}

/** A member's note only when its author can no longer appeal: whoever decides must read it. */
function pastRetention(
  { retentionRejectedDays, retentionWithdrawnDays }: Parts['config'],
  limit: number,
): Sql<NoteRow> {
  return sql`SELECT note_id, owner_id FROM notes
    WHERE erased_at IS NULL AND (
      (state IN ('rejected', 'removed') AND (member_id IS NULL OR appeal IN ('upheld', 'over'))
        AND settled_at <= clock_timestamp() - make_interval(hours => 24 * ${retentionRejectedDays}::int))
      OR (state = 'withdrawn'
        AND settled_at <= clock_timestamp() - make_interval(hours => 24 * ${retentionWithdrawnDays}::int)))
    ORDER BY settled_at LIMIT ${limit}`;
}
