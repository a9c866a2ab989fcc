/**
 * What a feed tells (CONTRACT.md, section 7): of each type its subject, and what `data` holds. A `?`
 * stands behind what is only there where it says something.
 */
export const UPDATES = {
  'member.registered': ['member', ''],
  'member.recovered': ['member', 'operation_id'],
  'member.deactivated': ['member', ''],
  'session.started': ['session', 'expires_at'],
  'session.ended': ['session', 'reason'],
  'credential.created': ['credential', 'scopes, expires_at'],
  'credential.rotated': ['credential', 'reason'],
  'credential.revoked': ['credential', 'reason'],
  'credential.expired': ['credential', ''],
  'note.submitted': ['note', 'experience, parent_id'],
  'note.approved': ['note', 'decision_id, parent_id'],
  'note.rejected': ['note', 'decision_id, policy, message (whether there is one), appeal_until'],
  'note.removed': ['note', 'decision_id, policy, message (whether there is one), appeal_until'],
  'note.restored': ['note', 'decision_id, parent_id'],
  'note.withdrawn': ['note', ''],
  'note.replied': ['note, that of the member', 'reply_id'],
  'profile.published': ['profile', 'version, restored?'],
  'profile.withdrawn': ['profile', 'reason'],
  'profile.removed': ['profile', 'policy'],
  'artifact.published': ['artifact', 'kind, supersedes_id; or restored alone'],
  'artifact.superseded': ['artifact', 'superseded_by'],
  'artifact.withdrawn': ['artifact', 'reason'],
  'artifact.removed': ['artifact', 'policy'],
  'case.opened': ['case', 'artifact_id; or restored alone'],
  'case.claimed': ['case', 'member_id, lease_expires_at, extended?'],
  'case.released': ['case', 'member_id, reason'],
  'case.lease_ended': ['case', 'member_id, lease_expires_at'],
  'case.submitted': ['case', 'submission_id, member_id, artifact_id'],
  'case.reviewed': ['case', 'review_id, submission_id, member_id, decision, binding'],
  'case.accepted': ['case', 'review_id, submission_id, member_id'],
  'case.returned': ['case', 'review_id, submission_id, member_id, lease_expires_at'],
  'case.rejected': ['case', 'review_id, submission_id, member_id'],
  'case.withdrawn': ['case', 'reason'],
  'case.noted': [
    'case; case_note where one is restored',
    'note_id, member_id; or case_id, restored',
  ],
  'case.removed': [
    'case; case_note where it is a note on one',
    'policy; of a note case_id besides',
  ],
  'report.received': ['report', 'subject, reason, already_reviewed'],
  'report.resolved': ['report', 'subject, outcome (kept, removed or withdrawn)'],
  'appeal.opened': ['appeal', 'note_id, decision_id'],
  'appeal.granted': ['appeal', 'note_id, decision_id'],
  'appeal.upheld': ['appeal', 'note_id, decision_id'],
} as const satisfies Record<string, readonly [subject: string, data: string]>;

export type UpdateType = keyof typeof UPDATES;
