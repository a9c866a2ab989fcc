import type { Config } from '../../platform/config.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { NoteRow } from '../../projections/guestbook/notes.ts';
import { eraseCommand } from '../../services/guestbook/scheduled-commands.ts';
import { forEachInBatches } from '../running/batches.ts';

interface Deps {
  store: EventStore;
  config: Pick<Config, 'retentionRejectedDays' | 'retentionWithdrawnDays'>;
}

/**
 * Erases the text of notes that are past their retention; returns how many. Each note has a
 * separate transaction, so the next run continues where an interrupted run stopped.
 */
export function eraseOldNotes({ store, config }: Deps): Promise<number> {
  return forEachInBatches(
    (limit) => query(store.pool, pastRetention(config, limit)),
    (row) => handle(store, SERVICE_ACTOR, eraseCommand(row, 'retention')),
  );
}

/** A member's note stays until its author can no longer appeal: an appeal needs the text. */
function pastRetention(
  { retentionRejectedDays, retentionWithdrawnDays }: Deps['config'],
  limit: number,
): Sql<NoteRow> {
  return sql`SELECT note_id, owner_id, member_id FROM notes
    WHERE erased_at IS NULL AND (
      (state IN ('rejected', 'removed') AND (member_id IS NULL OR appeal IN ('upheld', 'over'))
        AND settled_at <= statement_timestamp() - make_interval(hours => 24 * ${retentionRejectedDays}::int))
      OR (state = 'withdrawn'
        AND settled_at <= statement_timestamp() - make_interval(hours => 24 * ${retentionWithdrawnDays}::int)))
    ORDER BY settled_at LIMIT ${limit}`;
}
