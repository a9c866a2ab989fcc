import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { MARKS_KEPT_HOURS } from '../../platform/eventstore/write-marks.ts';
import { named, type Sql } from '../../platform/sql.ts';
import { BATCH_SIZE, drainBatches } from '../running/batches.ts';

interface Deps {
  pool: pg.Pool;
  config: Pick<Config, 'retentionAddressKeysHours'>;
}

/** Deletes rate counters, addresses of notes and reports (keyed hashes) and marks of commits past retention; returns how many. */
export async function sweepRateCounters({ pool, config }: Deps): Promise<number> {
  const hours = config.retentionAddressKeysHours;
  // The longest window is 24 hours; deleting its counter earlier would reset the limit.
  const counters = await drainBatches(pool, () =>
    dropOlder('rate_counters', 'window_start', Math.max(hours, 24)),
  );
  // A guest may report a note again when the last report is older than this.
  const reporters = await drainBatches(pool, () =>
    dropOlder('report_addresses', 'reported_at', hours),
  );
  const senders = await drainBatches(pool, () =>
    dropOlder('note_addresses', 'submitted_at', hours),
  );
  const marks = await drainBatches(pool, () =>
    dropOlder('write_marks', 'marked_at', MARKS_KEPT_HOURS),
  );
  return counters + reporters + senders + marks;
}

function dropOlder(table: string, at: string, hours: number): Sql {
  return named(
    `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ${table}
      WHERE ${at} < statement_timestamp() - make_interval(hours => $1::int)
      ORDER BY ${at} LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING 1`,
    [hours, BATCH_SIZE],
  );
}
