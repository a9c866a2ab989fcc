import type { Reason } from './conflict-reasons.ts';

/**
 * A refusal is a value: the problem's code and what the client needs to know.
 * HTTP numbers live in http/problems.ts alone.
 */
export interface Refusal<Code extends string = string> {
  refused: Code;
  details?: Record<string, unknown>;
}

export function refuse<const Code extends string>(
  code: Code,
  details?: Record<string, unknown>,
): Refusal<Code> {
  return details ? { refused: code, details } : { refused: code };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

/** What is asked for does not fit what is there now; `details` are told beside the reason. */
export function conflict(
  reason: Reason,
  details: Record<string, unknown> = {},
): Refusal<'state_conflict'> {
  return refuse('state_conflict', { reason, ...details });
}

export function wrongState(state: { status: string; version: number }): Refusal<'state_conflict'> {
  return conflict('wrong_state', { current_state: state.status, current_version: state.version });
}

export function wrongVersion(state: { version: number }): Refusal<'state_conflict'> {
  return conflict('version_mismatch', { current_version: state.version });
}
