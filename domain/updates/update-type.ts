import { z } from 'zod';
import { AnyUuid, Timestamp, UnixSeconds, Uuid } from '../../platform/http/schemas.ts';
import { ARTIFACT_KINDS } from '../artifacts/words.ts';
import { REVIEW_DECISIONS } from '../cases/words.ts';
import { EXPERIENCES, REPORT_REASONS } from '../guestbook/words.ts';
import { SESSION_ENDS } from '../membership/words.ts';
import { PASSKEY_ENDS } from '../passkeys/words.ts';
import { SCOPES } from '../permissions.ts';
import { RECORD_TYPES } from '../publications/words.ts';

const policy = z.string().describe('The code of a policy');

const restored = z.literal(true).optional().describe('A moderator restored it');

const refusal = {
  decision_id: AnyUuid,
  policy,
  message: z.boolean().describe('Whether the moderator left a message'),
  appeal_until: Timestamp,
};

const publication = { decision_id: AnyUuid, parent_id: AnyUuid.nullable() };

const withdrawal = { reason: z.enum(['author', 'deactivated']) };

const revocation = (reasons: readonly string[]) => ({ reason: z.enum(reasons) });

const claim = { member_id: AnyUuid, lease_expires_at: Timestamp };

const review = { review_id: AnyUuid, submission_id: AnyUuid, member_id: AnyUuid };

const appeal = { note_id: AnyUuid, decision_id: AnyUuid };

const reported = {
  subject: z.object({ type: z.enum(['note', ...RECORD_TYPES]), id: AnyUuid }),
};

/**
 * All types of updates, each with its subject types and the fields of its `data`. An optional field
 * is absent where it does not apply.
 */
export const UPDATE_TYPES = {
  'member.registered': { subjects: ['member'], data: {} },
  'member.recovered': { subjects: ['member'], data: { operation_id: Uuid } },
  'member.deactivated': { subjects: ['member'], data: {} },
  'member.disabled': {
    subjects: ['member'],
    data: { until: Timestamp.nullable().describe('Null: until a moderator lifts it') },
  },
  'member.enabled': { subjects: ['member'], data: {} },
  'session.started': { subjects: ['session'], data: { expires_at: UnixSeconds } },
  'session.ended': {
    subjects: ['session'],
    data: revocation(SESSION_ENDS),
  },
  'credential.created': {
    subjects: ['credential'],
    data: { scopes: z.array(z.enum(SCOPES)), expires_at: UnixSeconds },
  },
  'credential.rotated': { subjects: ['credential'], data: revocation(['rotated']) },
  'credential.revoked': {
    subjects: ['credential'],
    data: revocation(['revoked', 'recovery', 'deactivated', 'disabled']),
  },
  'credential.expired': { subjects: ['credential'], data: {} },
  'passkey.added': { subjects: ['passkey'], data: {} },
  'passkey.removed': { subjects: ['passkey'], data: revocation(PASSKEY_ENDS) },
  'note.submitted': {
    subjects: ['note'],
    data: { experience: z.enum(EXPERIENCES), parent_id: AnyUuid.nullable() },
  },
  'note.approved': { subjects: ['note'], data: publication },
  'note.rejected': { subjects: ['note'], data: refusal },
  'note.removed': { subjects: ['note'], data: refusal },
  'note.restored': { subjects: ['note'], data: publication },
  'note.withdrawn': { subjects: ['note'], data: {} },
  'note.replied': {
    subjects: ['note'],
    data: { reply_id: AnyUuid.describe("The reply; the subject is the member's own note") },
  },
  'profile.published': { subjects: ['profile'], data: { version: z.int(), restored } },
  'profile.withdrawn': { subjects: ['profile'], data: withdrawal },
  'profile.removed': { subjects: ['profile'], data: { policy } },
  'artifact.published': {
    subjects: ['artifact'],
    data: {
      kind: z.enum(ARTIFACT_KINDS).optional().describe('Absent with `restored`'),
      supersedes_id: AnyUuid.nullable().optional().describe('Absent with `restored`'),
      restored,
    },
  },
  'artifact.superseded': { subjects: ['artifact'], data: { superseded_by: AnyUuid } },
  'artifact.withdrawn': { subjects: ['artifact'], data: withdrawal },
  'artifact.removed': { subjects: ['artifact'], data: { policy } },
  'case.opened': {
    subjects: ['case'],
    data: {
      artifact_id: AnyUuid.nullable().optional().describe('Absent with `restored`'),
      restored,
    },
  },
  'case.claimed': {
    subjects: ['case'],
    data: {
      ...claim,
      extended: z.literal(true).optional().describe('The claimant extended the lease'),
    },
  },
  'case.released': {
    subjects: ['case'],
    data: { member_id: AnyUuid, reason: z.enum(['claimant', 'deactivated']) },
  },
  'case.lease_ended': { subjects: ['case'], data: claim },
  'case.submitted': {
    subjects: ['case'],
    data: { submission_id: AnyUuid, member_id: AnyUuid, artifact_id: AnyUuid.nullable() },
  },
  'case.reviewed': {
    subjects: ['case'],
    data: { ...review, decision: z.enum(REVIEW_DECISIONS), binding: z.boolean() },
  },
  'case.accepted': { subjects: ['case'], data: review },
  'case.returned': { subjects: ['case'], data: { ...review, lease_expires_at: Timestamp } },
  'case.rejected': { subjects: ['case'], data: review },
  'case.withdrawn': { subjects: ['case'], data: withdrawal },
  'case.noted': {
    subjects: ['case', 'case_note'],
    data: {
      note_id: AnyUuid.optional().describe('Absent with `restored`'),
      member_id: AnyUuid.optional().describe('Absent with `restored`'),
      case_id: AnyUuid.optional().describe('Where the subject is a restored `case_note`'),
      restored,
    },
  },
  'case.removed': {
    subjects: ['case', 'case_note'],
    data: {
      policy,
      case_id: AnyUuid.optional().describe('Where the subject is a `case_note`'),
    },
  },
  'report.received': {
    subjects: ['report'],
    data: {
      ...reported,
      reason: z.enum(REPORT_REASONS),
      already_reviewed: z.boolean().describe('A moderator dismissed this reason before'),
    },
  },
  'report.resolved': {
    subjects: ['report'],
    data: { ...reported, outcome: z.enum(['kept', 'removed', 'withdrawn']) },
  },
  'appeal.opened': { subjects: ['appeal'], data: appeal },
  'appeal.granted': { subjects: ['appeal'], data: appeal },
  'appeal.upheld': { subjects: ['appeal'], data: appeal },
} as const satisfies Record<
  string,
  { subjects: readonly string[]; data: Readonly<Record<string, z.ZodType>> }
>;

export type UpdateType = keyof typeof UPDATE_TYPES;
