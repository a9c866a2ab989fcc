import { beginEpoch } from '../../platform/eventstore/log-epochs.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import type { Service } from './service.ts';

const TABLES = ['feed', 'feed_heads', 'log_epochs', 'feed_restores'] as const;

/** Begins an epoch as `npm run restored` does, without ending sessions. */
export async function beginTestEpoch(service: Service): Promise<void> {
  // A rebuild would not make what a test has taken from the log.
  await service.tamper('SELECT 1');
  await withConnection(service.database.url, (client) => beginEpoch(client, 'test'));
}

export type FeedBackup = Awaited<ReturnType<typeof backUpFeeds>>;

/** Copies the feeds and the epochs of a service, without its members and their credentials. */
export async function backUpFeeds({ database }: Service) {
  const copies = TABLES.map(async (table) => {
    const { rows } = await database.pool.query(
      `SELECT coalesce(json_agg(t), '[]')::text AS copy FROM ${table} t`,
    );
    return [table, rows[0].copy as string] as const;
  });
  return Promise.all(copies);
}

/** Adds entries to the end of a member's feed. */
export async function addEntries(service: Service, memberId: string, count: number): Promise<void> {
  await service.tamper(
    `WITH head AS (UPDATE feed_heads SET sequence = sequence + $2 WHERE member_id = $1
        RETURNING sequence - $2 AS before)
      INSERT INTO feed (member_id, sequence, event_id, type, occurred_at, subject_type, subject_id,
        actor, data)
      SELECT $1::uuid, before + n, gen_random_uuid(), 'credential.expired', now(), 'credential',
        gen_random_uuid(), '{"type": "service"}', '{}' FROM head, generate_series(1, $2::int) n`,
    [memberId, count],
  );
}

/** Puts a copy back in place of the present feeds, and begins an epoch as `npm run restored` does. */
export async function restoreFeeds(service: Service, backup: FeedBackup): Promise<void> {
  for (const [table, copy] of backup) {
    await service.tamper(`DELETE FROM ${table}`);
    await service.tamper(
      `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
      [copy],
    );
  }
  await beginTestEpoch(service);
}
