import type pg from 'pg';
import { named, type Sql, sql } from '../sql.ts';

// A restore takes back the end of the log, and what is written next gets the same numbers. Therefore
// a new epoch begins with each restore, and a cursor is a position of one epoch. See "Epochs" in
// docs/architecture/feed-ordering.md.

/** The epoch of a log that was never restored, and of cursors that were made before there were epochs. */
export const FIRST_EPOCH = 1;

/** The epoch in which the log is now. */
export const currentEpoch = (): Sql<{ epoch: number }> =>
  sql`SELECT max(epoch) AS epoch FROM log_epochs`;

/**
 * The last sequence that a member's feed of an earlier epoch shares with the present feed. It is 0
 * if the log does not know the epoch: that epoch was itself taken back by a restore, and what its
 * feed shares with the present one is unknown.
 */
export function keptSequence(memberId: string, epoch: number): Sql<{ kept: number }> {
  return sql`SELECT CASE WHEN EXISTS (SELECT FROM log_epochs WHERE epoch = ${epoch}::bigint)
    THEN (SELECT min(coalesce(r.sequence, 0)) FROM log_epochs later
      LEFT JOIN feed_restores r ON r.member_id = ${memberId}::uuid AND r.epoch = later.epoch
      WHERE later.epoch > ${epoch}::bigint) ELSE 0 END AS kept`;
}

/** The same for positions of the whole log. */
export function keptPosition(epoch: number): Sql<{ kept: number }> {
  return sql`SELECT CASE WHEN EXISTS (SELECT FROM log_epochs WHERE epoch = ${epoch}::bigint)
    THEN (SELECT min(position) FROM log_epochs WHERE epoch > ${epoch}::bigint) ELSE 0 END AS kept`;
}

/** An epoch that has just begun. */
export interface BegunEpoch {
  epoch: number;
  /** The last position that was kept, and the time of its event. */
  position: number;
  recorded_at: Date | null;
}

/**
 * Begins an epoch in the transaction of the caller. Each statement takes what it writes as values, since a cluster refuses
 * an INSERT into a table that every node has if it reads other tables or calls functions.
 */
export async function beginEpoch(client: pg.ClientBase, reason: string): Promise<BegunEpoch> {
  const ask = async <Row>(statement: Sql<Row>) => (await client.query(statement)).rows as Row[];
  const [next] = await ask(nextEpoch());
  const [last] = await ask(lastEvent());
  if (!next) throw new Error('no epoch follows');
  const { began_at: beganAt, server } = next;
  // Numbers also where the connection gives bigint as text.
  const epoch = Number(next.epoch);
  const position = Number(last?.position ?? 0);
  await ask(sql`INSERT INTO log_epochs (epoch, began_at, position, reason, server)
    VALUES (${epoch}::bigint, ${beganAt}::timestamptz, ${position}::bigint, ${reason}, ${server})`);
  await ask(sql`INSERT INTO feed_restores (member_id, epoch, sequence)
    SELECT member_id, ${epoch}::bigint, sequence FROM feed_heads`);
  // A dump restores the sequence, a failover may not.
  await ask(sql`SELECT setval('events_position_seq',
    greatest(${position}::bigint + 1, (SELECT last_value FROM events_position_seq)))`);
  return { epoch, position, recorded_at: last?.recorded_at ?? null };
}

const PRESENT_SERVER = `(pg_control_system()).system_identifier || '/' ||
  left(pg_walfile_name(pg_current_wal_lsn()), 8)`;

/** `began_at` is text: as a `Date` it would lose its microseconds, and a later event could seem to be of the epoch before. */
const nextEpoch = () =>
  named<{ epoch: number; began_at: string; server: string }>(
    `SELECT greatest(max(epoch) + 1, (1000 * extract(epoch FROM clock_timestamp()))::bigint) AS epoch,
       clock_timestamp()::text AS began_at, ${PRESENT_SERVER} AS server FROM log_epochs`,
  );

const lastEvent = () =>
  sql<Pick<BegunEpoch, 'position' | 'recorded_at'>>`SELECT position, recorded_at FROM events
    ORDER BY position DESC LIMIT 1`;

/** A server: its system identifier, and its timeline, which a promotion changes. */
export interface LogServer {
  system: string;
  timeline: string;
}

/** Reads when the current epoch began, the server that it notes, and the present one; null for a standby. */
export const logServers = (): Sql<{
  began_at: Date;
  noted: LogServer;
  present: LogServer | null;
}> =>
  sql`SELECT began_at, json_build_object('system', split_part(server, '/', 1),
      'timeline', split_part(server, '/', 2)) AS noted,
    CASE WHEN NOT pg_is_in_recovery() THEN json_build_object(
      'system', (pg_control_system()).system_identifier::text,
      'timeline', left(pg_walfile_name(pg_current_wal_lsn()), 8)) END AS present
    FROM log_epochs ORDER BY epoch DESC LIMIT 1`;

/** Notes that the current epoch goes on, on the present server; returns the epoch. */
export async function continueEpoch(client: pg.ClientBase): Promise<number> {
  const present = await client.query<{ server: string }>(`SELECT ${PRESENT_SERVER} AS server`);
  const { rows } = await client.query<{ epoch: number }>(
    `UPDATE log_epochs SET server = $1 WHERE epoch = (SELECT max(epoch) FROM log_epochs)
     RETURNING epoch`,
    [present.rows[0]?.server],
  );
  return Number(rows[0]?.epoch);
}
