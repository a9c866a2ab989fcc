import { type Sql, sql } from '../../platform/sql.ts';

/** The last scheduled backup. */
export interface LastBackup {
  /** Whose state the last verified backup holds; null if none was verified. */
  taken_at: Date | null;
  /** When the last attempt ended. */
  ended_at: Date;
  failed: boolean;
}

/** Reads the last scheduled backup; no row if there was none. */
export const lastBackup = (): Sql<LastBackup> =>
  sql`SELECT taken_at, ended_at, failed FROM scheduled_backups`;

/** Records an attempt: the time of the state that was backed up and verified, or null if the attempt failed. */
export const recordBackup = (takenAt: string | null): Sql =>
  sql`INSERT INTO scheduled_backups AS last (taken_at, ended_at, failed)
    VALUES (${takenAt}::timestamptz, clock_timestamp(), ${takenAt}::timestamptz IS NULL)
    ON CONFLICT (one) DO UPDATE SET taken_at = coalesce(excluded.taken_at, last.taken_at),
      ended_at = excluded.ended_at, failed = excluded.failed`;
