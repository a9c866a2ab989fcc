/** What a 409 `state_conflict` may give as its reason. */
export const REASONS = [
  'active_credential_limit',
  'already_appealed',
  'artifact_unavailable',
  'claim_limit',
  'claimed_by_other',
  'credential_id_used',
  'credential_unavailable',
  'lease_expired',
  'not_author',
  'not_claimant',
  'own_case',
  'own_submission',
  'parent_not_public',
  'second_person_required',
  'supersedes_unavailable',
  'undo_expired',
  'version_mismatch',
  'wrong_state',
] as const;

export type Reason = (typeof REASONS)[number];
