import type { Reason } from './conflict-reasons.ts';

/**
 * A refused command, as a value: the problem code and the details for the client. Only
 * http/problems.ts maps codes to HTTP statuses.
 */
export interface Refusal<Code extends string = string> {
  refused: Code;
  details?: Record<string, unknown>;
}

/** Creates a refusal. */
export function refuse<const Code extends string>(
  code: Code,
  details?: Record<string, unknown>,
): Refusal<Code> {
  return details ? { refused: code, details } : { refused: code };
}

/** Whether a result is a refusal. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

/** Refuses a command that does not fit the current state. `details` are sent beside the reason. */
export function conflict(
  reason: Reason,
  details: Record<string, unknown> = {},
): Refusal<'state_conflict'> {
  return refuse('state_conflict', { reason, ...details });
}

/** Refuses a command that the current state does not allow. */
export function wrongState(state: { status: string; version: number }): Refusal<'state_conflict'> {
  return conflict('wrong_state', { current_state: state.status, current_version: state.version });
}

/**
 * Refuses a command whose `expected_version` is not the current version. `details` are sent beside
 * the version: a moderator of a note also needs the note's state.
 */
export function wrongVersion(
  state: { version: number },
  details: { current_state?: string } = {},
): Refusal<'state_conflict'> {
  return conflict('version_mismatch', { ...details, current_version: state.version });
}
