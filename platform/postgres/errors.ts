import pg from 'pg';
import { RolledBack } from './pipeline.ts';

/** Storage is unreachable, shutting down or too slow. Nothing was written; answered with 503. */
export class StorageUnavailable extends Error {}

/** The process or the database has too much to do for this read; answered with 503. */
export class Overloaded extends StorageUnavailable {}

/** COMMIT was sent, but its outcome is unknown: the write may have happened. Answered with 503. */
export class OutcomeUnconfirmed extends Error {}

/** Aborted in favour of another transaction, or on a replica in favour of recovery. Retry these. */
const RETRYABLE_CODES = [
  '40001', // serialization_failure
  '40P01', // deadlock_detected
];

const UNAVAILABLE = new Set([
  ...RETRYABLE_CODES,
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P04', // database_dropped
  '57P05', // idle_session_timeout
  '57014', // query_canceled (statement_timeout)
  '55P03', // lock_not_available
  '25006', // read_only_sql_transaction
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '3D000', // database does not exist (dropped or being restored)
]);

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** Whether a statement was cancelled, by its timeout or by request. */
export const isCancelled = (error: unknown): boolean => codeOf(error) === '57014';

/** Whether the server aborted a statement that can be retried. */
export const hasYielded = (error: unknown): boolean => RETRYABLE_CODES.includes(codeOf(error));

/**
 * Citus reports a unique violation on another node as `internal_error`, with the message of PostgreSQL, in any language. It
 * names the primary key of a shard, such as `events_pkey_102039`.
 */
const isUniqueViolation = (error: unknown): boolean =>
  codeOf(error) === '23505' ||
  (codeOf(error) === 'XX000' && /\b\w+_pkey_\d+\b/.test((error as Error).message));

/** Citus reports that the coordinator shuts down as `internal_error`, in English. */
const isEndOfCoordinator = ({ code, message }: pg.DatabaseError): boolean =>
  code === 'XX000' && message === 'postmaster was shut down, exiting';

/** A unique violation, deadlock or serialization failure: decide again on the winner's state. */
export const isRace = (error: unknown): boolean => isUniqueViolation(error) || hasYielded(error);

/** True for failures of storage or the network; false for bugs of this service. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StorageUnavailable || error instanceof RolledBack) return true;
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (error instanceof pg.DatabaseError)
    return (
      typeof code === 'string' &&
      (UNAVAILABLE.has(code) || /^(08|53|58)/.test(code) || isEndOfCoordinator(error))
    );
  return (
    (typeof code === 'string' && /^E[A-Z]+$/.test(code)) ||
    /^(timeout exceeded|Connection terminated|Query read timeout|Client (has encountered|was closed))/.test(
      error.message,
    )
  );
}

/** Whether a connection was not open in time; the next attempt may be. */
export const isConnectTimeout = (error: unknown): boolean =>
  error instanceof Error &&
  /^(timeout exceeded|Connection terminated due to connection timeout)/.test(error.message);

/**
 * `isUnavailable` for errors of the job queue, which copies the driver's errors or makes plain objects
 * of them, and keeps their code.
 */
export function isUnavailableReport(report: unknown): boolean {
  const { code } = report as { code?: unknown };
  return (
    isUnavailable(report) ||
    (typeof code === 'string' && (UNAVAILABLE.has(code) || /^(08|53|58|E[A-Z]+$)/.test(code)))
  );
}

/**
 * `feature_not_supported`. A migration may have changed the result type of a prepared statement:
 * the statement then fails on this connection, but can be prepared again on another.
 */
export const mayBeOutdated = (error: unknown): boolean => codeOf(error) === '0A000';

/** `read_only_sql_transaction`: the connection leads to a standby, or to a database set read-only. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006';

/** `in_failed_sql_transaction`: an earlier statement of the transaction has failed. */
export const isInFailedTransaction = (error: unknown): boolean => codeOf(error) === '25P02';

/** Codes of errors that may end the connection or the server, not only the statement. */
const ENDING = /^(08|28|3D|53|57P|58|F0|XX|25P0[345]$)/;

/**
 * Whether the server rejected the statement while the connection stays open, so nothing was
 * written. A server may translate the severity ERROR; then the error code decides.
 */
export function isServerError(error: unknown): boolean {
  if (error instanceof RolledBack) return true;
  if (!(error instanceof pg.DatabaseError)) return false;
  const { severity, code } = error;
  if (severity === 'ERROR') return true;
  return severity !== 'FATAL' && severity !== 'PANIC' && code !== undefined && !ENDING.test(code);
}
