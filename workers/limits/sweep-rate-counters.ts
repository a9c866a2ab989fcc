import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { BATCH_SIZE, drainBatches } from '../batches.ts';

interface Deps {
  pool: pg.Pool;
  config: Pick<Config, 'retentionAddressKeysHours'>;
}

/** Deletes rate counters and addresses of notes and reports (keyed hashes) past retention; returns how many. */
export async function sweepRateCounters({ pool, config }: Deps): Promise<number> {
  const hours = config.retentionAddressKeysHours;
  const counters = await drainBatches(pool, () => dropCounters(hours, BATCH_SIZE));
  const reporters = await drainBatches(pool, () => dropReporters(hours, BATCH_SIZE));
  return counters + reporters + (await drainBatches(pool, () => dropSenders(hours, BATCH_SIZE)));
}

/** A guest may report a note again when the last report is older than this. */
function dropReporters(hours: number, limit: number): Sql {
  return sql`DELETE FROM report_addresses WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM report_addresses
      WHERE reported_at < statement_timestamp() - make_interval(hours => ${hours}::int)
      ORDER BY reported_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING note_id`;
}

function dropSenders(hours: number, limit: number): Sql {
  return sql`DELETE FROM note_addresses WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM note_addresses
      WHERE submitted_at < statement_timestamp() - make_interval(hours => ${hours}::int)
      ORDER BY submitted_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING note_id`;
}

/** The longest window is 24 hours; deleting its counter earlier would reset the limit. */
function dropCounters(hours: number, limit: number): Sql {
  return sql`DELETE FROM rate_counters WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM rate_counters
      WHERE window_start < statement_timestamp() - make_interval(hours => greatest(${hours}::int, 24))
      ORDER BY window_start LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING kind`;
}
