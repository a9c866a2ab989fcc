import { type Sql, sql } from '../sql.ts';

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

/** Begins an epoch: statements of one transaction, of which the first returns the epoch. */
export const beginEpoch = (reason: string): readonly [Sql<BegunEpoch>, ...Sql[]] => [
  sql<BegunEpoch>`INSERT INTO log_epochs (epoch, began_at, position, reason)
    SELECT greatest(max(epoch) + 1, (1000 * extract(epoch FROM clock_timestamp()))::bigint),
      clock_timestamp(), (SELECT coalesce(max(position), 0) FROM events), ${reason} FROM log_epochs
    RETURNING epoch, position,
      (SELECT recorded_at FROM events ORDER BY position DESC LIMIT 1) AS recorded_at`,
  sql`INSERT INTO feed_restores (member_id, epoch, sequence)
    SELECT member_id, (SELECT max(epoch) FROM log_epochs), sequence FROM feed_heads`,
  // A dump restores the sequence, a failover may not.
  sql`SELECT setval('events_position_seq', greatest(
    (SELECT coalesce(max(position), 0) + 1 FROM events), (SELECT last_value FROM events_position_seq)))`,
];

/** A server: its system identifier, and its timeline, which a promotion changes. */
export interface LogServer {
  system: string;
  timeline: string;
}

/** Reads the server that the current epoch notes, and the present one; null for a standby. */
export const logServers = (): Sql<{ noted: LogServer; present: LogServer | null }> =>
  sql`SELECT json_build_object('system', split_part(server, '/', 1),
      'timeline', split_part(server, '/', 2)) AS noted,
    CASE WHEN NOT pg_is_in_recovery() THEN json_build_object(
      'system', (pg_control_system()).system_identifier::text,
      'timeline', left(pg_walfile_name(pg_current_wal_lsn()), 8)) END AS present
    FROM log_epochs ORDER BY epoch DESC LIMIT 1`;

/** Notes that the current epoch goes on, on the present server; returns the epoch. */
export const continueEpoch = (): Sql<{ epoch: number }> =>
  sql`UPDATE log_epochs SET server = DEFAULT
    WHERE epoch = (SELECT max(epoch) FROM log_epochs) RETURNING epoch`;
