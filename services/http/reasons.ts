/** What a 409 `state_conflict` may give as its reason, and what it says then. */
export const reasons = {
  active_credential_limit: 'There are as many active credentials as a member may have.',
  already_appealed: 'There is an appeal already.',
  artifact_unavailable: 'The artifact is not public.',
  claim_limit: 'There are as many claims as one moderator may hold.',
  claimed_by_other: 'Another moderator has claimed this.',
  credential_id_used: 'This id is, or was, that of another credential.',
  credential_unavailable: 'None of your credentials has this id.',
  lease_expired: 'Your claim has expired.',
  not_author: 'Only its author may do this.',
  not_claimant: 'Only the member who has claimed it may do this.',
  own_case: 'Your own case is for another member to claim.',
  own_submission: 'What you submitted is for another member to review.',
  parent_not_public: 'The note that it replies to is not public.',
  second_person_required: 'You decided this before: another moderator is needed.',
  supersedes_unavailable: 'What it supersedes is not an artifact of yours that nothing supersedes.',
  undo_expired: 'The time to undo it is over.',
  version_mismatch: 'It has changed: expected_version is not its present version.',
  wrong_state: 'Its present state does not allow this.',
} as const;

export type Reason = keyof typeof reasons;

export const REASONS = Object.keys(reasons) as Reason[];

/** What a refusal says that gives one of these as its reason. */
export const reasonMessage = ({ reason }: Record<string, unknown>): string | undefined =>
  reasons[reason as Reason];
