import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { BATCH, untilNone } from '../batches.ts';

interface Parts {
  pool: pg.Pool;
  config: Pick<Config, 'retentionAddressKeysHours'>;
}

/** Drops the counters, and with them the keyed hashes of addresses, that are past their retention. */
export async function sweepRateCounters({ pool, config }: Parts): Promise<number> {
  const hours = config.retentionAddressKeysHours;
  const counters = await untilNone(pool, () => dropCounters(hours, BATCH));
  return counters + (await untilNone(pool, () => dropReporters(hours, BATCH)));
}

/** Whoever reported a note longer ago may report it again. */
function dropReporters(hours: number, limit: number): Sql {
  return sql`DELETE FROM report_addresses WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM report_addresses
      WHERE reported_at < clock_timestamp() - make_interval(hours => ${hours}::int)
      ORDER BY reported_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING note_id`;
}

/** The longest window is a day: a counter dropped sooner would give its limit back. */
function dropCounters(hours: number, limit: number): Sql {
  return sql`DELETE FROM rate_counters WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM rate_counters
      WHERE window_start < clock_timestamp() - make_interval(hours => greatest(${hours}::int, 24))
      ORDER BY window_start LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING kind`;
}
