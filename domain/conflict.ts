import { type Refusal, refuse } from '../platform/refusal.ts';

/** Messages by the reason of a 409 `state_conflict`. */
export const conflictReasons = {
  active_credential_limit: 'You have reached the limit of active credentials.',
  already_appealed: 'This decision has already been appealed.',
  artifact_unavailable: 'The artifact is not public.',
  claim_limit: 'You have reached the limit of claims.',
  claim_time_used: 'You have claimed this for 30 minutes; you can claim it again an hour later.',
  claimed_by_other: 'Another moderator has claimed this.',
  correction_limit: 'You have corrected this note as often as possible.',
  credential_id_used: 'This credential id was already used.',
  credential_unavailable: 'You have no credential with this id.',
  fold_limit: 'You have reached the limit of folds: end one, or wait until one is over.',
  held_case_limit: 'You have reached the limit of cases that you can hold.',
  lease_expired: 'Your claim has expired.',
  not_author: 'Only the author can do this.',
  not_claimant: 'Only the member who claimed this case can do this.',
  own_case: 'You cannot claim your own case.',
  own_submission: 'You cannot review your own submission.',
  parent_not_public: 'The note that this replies to is not public.',
  passkey_known: 'This passkey is already in use.',
  passkey_limit: 'You have reached the limit of passkeys.',
  second_person_required: 'You already decided this; another moderator must decide now.',
  session_unavailable: 'You have no session with this id.',
  supersedes_unavailable: 'You can supersede only your own artifact, and only once.',
  under_review: 'A moderator is reading this note; try again later.',
  undo_expired: 'The time to undo this decision has passed.',
  version_mismatch: 'The record has changed: expected_version is not its current version.',
  view_limit: 'You have reached the limit of saved views.',
  wrong_state: 'The current state does not allow this.',
} as const;

type Reason = keyof typeof conflictReasons;

/** All reasons, for the OpenAPI document. */
export const CONFLICT_REASONS = Object.keys(conflictReasons) as Reason[];

/** Refuses a command that does not fit the current state. `details` are sent beside the reason. */
export function conflict(
  reason: Reason,
  details: Record<string, unknown> = {},
): Refusal<'state_conflict'> {
  return refuse('state_conflict', { reason, message: conflictReasons[reason], ...details });
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
