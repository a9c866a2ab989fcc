import { type Refusal, refuse } from './eventstore/decider.ts';
import type { Reason } from './http/reasons.ts';

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
