import { APPEAL_DAYS } from '../../domain/guestbook/author-decisions.ts';
import type { Config } from '../../platform/config.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { NoteRow } from '../../projections/guestbook/notes.ts';
import { scheduledCommand } from '../../services/guestbook/scheduled-commands.ts';
import { forEachInBatches } from '../running/batches.ts';

interface Deps {
  store: EventStore;
  config: Pick<Config, 'undoWindowSeconds'>;
}

/** Records in the log the end of each appeal period that is over; returns how many. */
export function closeAppeals({ store, config }: Deps): Promise<number> {
  const undoSeconds = config.undoWindowSeconds;
  return forEachInBatches(
    (limit) => query(store.pool, pastAppeal(undoSeconds, limit)),
    (row) =>
      handle(
        store,
        SERVICE_ACTOR,
        scheduledCommand(row, (now) => ({ type: 'EndAppealPeriod', undoSeconds, now })),
      ),
  );
}

/** Counts in hours, as the decider does: a day in the connection's time zone may have 23 or 25. */
function pastAppeal(undoSeconds: number, limit: number): Sql<NoteRow> {
  return sql`SELECT note_id, owner_id, member_id FROM notes
    WHERE state IN ('rejected', 'removed') AND appeal IS NULL AND member_id IS NOT NULL
      AND settled_at <= statement_timestamp()
        - make_interval(hours => 24 * ${APPEAL_DAYS}::int, secs => ${undoSeconds}::int)
    ORDER BY settled_at LIMIT ${limit}`;
}
