import { DEAD_LETTERS } from '../../platform/jobs/queues.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import type { PendingMessage } from './messages.ts';

/** Seconds without another call after one was accepted: what happens meanwhile is one message. */
const GATHER_SECONDS = 60;
/** Longer than an attempt; if the process ends during one, the next follows after this time. */
const ATTEMPT_SECONDS = 30;
const FIRST_DELAY_SECONDS = 10;
const LONGEST_DELAY_SECONDS = 900;

/** How far a receiver is, or will be once it accepts a message. */
export interface Place {
  position: number;
  /** ISO 8601, to the microsecond. */
  dead_until: string;
}

export interface ReceiverRow extends Place {
  receiver: string;
  pending: (PendingMessage & Place) | null;
  attempts: number;
  failed_since: Date | null;
  failure: string | null;
}

/** A new receiver begins at the end of the log. */
export function addReceiver(receiver: string, position: number): Sql {
  return sql`INSERT INTO notice_receivers (receiver, position, dead_until, next_at)
    VALUES (${receiver}, ${position}, clock_timestamp(), clock_timestamp()) ON CONFLICT DO NOTHING`;
}

/** Reserves a receiver whose next attempt is due for this process. */
export function takeDueReceiver(receiver: string): Sql<ReceiverRow> {
  return sql`UPDATE notice_receivers
    SET next_at = clock_timestamp() + make_interval(secs => ${ATTEMPT_SECONDS}::int)
    WHERE receiver = ${receiver} AND next_at <= clock_timestamp()
    RETURNING receiver, position, dead_until::text, pending, attempts, failed_since, failure`;
}

/** Keeps a message until it is accepted. */
export function keepMessage(receiver: string, message: PendingMessage & Place): Sql {
  return sql`UPDATE notice_receivers SET pending = ${JSON.stringify(message)}::json
    WHERE receiver = ${receiver} AND pending IS NULL`;
}

/** Nothing happened up to this place. */
export function passOver(receiver: string, { position, dead_until }: Place): Sql {
  return sql`UPDATE notice_receivers SET position = ${position}, dead_until = ${dead_until}::timestamptz,
      next_at = clock_timestamp()
    WHERE receiver = ${receiver} AND pending IS NULL`;
}

export function accepted(receiver: string, messageId: string): Sql {
  return sql`UPDATE notice_receivers SET position = (pending->>'position')::bigint,
      dead_until = (pending->>'dead_until')::timestamptz, pending = NULL, attempts = 0,
      failed_since = NULL, failure = NULL,
      next_at = clock_timestamp() + make_interval(secs => ${GATHER_SECONDS}::int)
    WHERE receiver = ${receiver} AND pending->>'id' = ${messageId}`;
}

/** Doubles the time to the next attempt, up to 15 minutes. */
export function failed(receiver: string, messageId: string, reason: string): Sql {
  return sql`UPDATE notice_receivers SET attempts = attempts + 1, failure = ${reason},
      failed_since = coalesce(failed_since, clock_timestamp()),
      next_at = clock_timestamp() + make_interval(secs => least(${LONGEST_DELAY_SECONDS}::int,
        ${FIRST_DELAY_SECONDS}::int * 2 ^ least(attempts, 10)::int)::int)
    WHERE receiver = ${receiver} AND pending->>'id' = ${messageId}`;
}

/** Gives up what waits for a receiver, which continues at the end of the log. */
export function skip(receiver: string, position: number): Sql<{ receiver: string }> {
  return sql`UPDATE notice_receivers SET position = ${position}, dead_until = clock_timestamp(),
      pending = NULL, attempts = 0, failed_since = NULL, failure = NULL, next_at = clock_timestamp()
    WHERE receiver = ${receiver} RETURNING receiver`;
}

export function receiverStates(receivers: readonly string[]): Sql<ReceiverRow> {
  return sql`SELECT receiver, position, dead_until::text, pending, attempts, failed_since, failure
    FROM notice_receivers WHERE receiver = ANY(${[...receivers]})`;
}

/** An event that somebody may have to act on. */
export interface NoticedRow {
  position: number;
  type: string;
  owner_id: string;
  note_id: string | null;
  subject: { type: string; id: string } | null;
  past_due: number | null;
}

const NOTICED = [
  'NoteSubmitted',
  'NoteReported',
  'RecordReported',
  'AppealOpened',
  'MemberAppealed',
  'QueueOverdue',
];

/** Reads such events after a position, up to and including another, oldest first. */
export function noticedBetween(after: number, to: number): Sql<NoticedRow> {
  return sql`SELECT position, type, owner_id, data->>'note_id' AS note_id, data->'subject' AS subject,
      (data->>'past_due')::int AS past_due
    FROM events WHERE position > ${after} AND position <= ${to} AND type = ANY(${NOTICED})
      AND data->>'silent' IS DISTINCT FROM 'true'
    ORDER BY position`;
}

export interface DeadJobRow {
  id: string;
  queue: string;
  at: string;
}

/** Jobs that failed for the last time after a time. The newest seconds are left to a later read. */
export function deadJobsSince(after: string, limit: number): Sql<DeadJobRow> {
  return sql`SELECT id, coalesce(source_name, '') AS queue, created_on::text AS at FROM pgboss.job
    WHERE name = ${DEAD_LETTERS} AND created_on > ${after}::timestamptz
      AND created_on < clock_timestamp() - interval '5 seconds'
    ORDER BY created_on, id LIMIT ${limit}`;
}
