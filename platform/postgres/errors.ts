import pg from 'pg';
import { RolledBack } from './pipeline.ts';

/** Storage cannot be reached, is shutting down or does not answer in time: 503, nothing happened. */
export class StorageUnavailable extends Error {}

/** COMMIT was sent and its fate could not be learnt: 503, the write may or may not have happened. */
export class OutcomeUnconfirmed extends Error {}

/** Undone for another's sake; on a replica also where what a read sees has to go. To be run again. */
const YIELDED = [
  '40001', // serialization_failure
  '40P01', // deadlock_detected
];

const UNAVAILABLE = new Set([
  ...YIELDED,
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

export const hasYielded = (error: unknown): boolean => YIELDED.includes(codeOf(error));

/** A unique index, a deadlock or a serialization failure: decide again on what the winner left. */
export const isRace = (error: unknown): boolean => codeOf(error) === '23505' || hasYielded(error);

/** True where the fault is the storage's or the network's, false where it is a bug of ours. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StorageUnavailable || error instanceof RolledBack) return true;
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (error instanceof pg.DatabaseError)
    return typeof code === 'string' && (UNAVAILABLE.has(code) || /^(08|53|58)/.test(code));
  return (
    (typeof code === 'string' && /^E[A-Z]+$/.test(code)) ||
    /^(timeout exceeded|Connection terminated|Query read timeout|Client (has encountered|was closed))/.test(
      error.message,
    )
  );
}

/**
 * What a server does not support; or a migration changed what a prepared statement answers. Then no
 * more can be had from it on its connection; on another it is prepared anew.
 */
export const mayBeOutdated = (error: unknown): boolean => codeOf(error) === '0A000';

/** What may end the connection, or the server, rather than the statement alone. */
const ENDING = /^(08|28|3D|53|57P|58|F0|XX|25P0[345]$)/;

/**
 * The server refused the statement and said so: the connection stands, and nothing came of it. Where
 * the server speaks another language its word for ERROR is unknown, and what it could be tells.
 */
export function isServerError(error: unknown): boolean {
  if (error instanceof RolledBack) return true;
  if (!(error instanceof pg.DatabaseError)) return false;
  const { severity, code } = error;
  if (severity === 'ERROR') return true;
  return severity !== 'FATAL' && severity !== 'PANIC' && code !== undefined && !ENDING.test(code);
}
