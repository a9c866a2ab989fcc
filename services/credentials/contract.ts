import { z } from 'zod';
import { SCOPES } from '../../domain/permissions.ts';
import { REPLAYED_HEADER } from '../../platform/http/keyed-call.ts';
import { COMMAND_PROBLEMS } from '../../platform/http/problems.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  AnyUuid,
  Cursor,
  Key,
  Limit,
  NextPage,
  PlainText,
  ReceiptBody,
  Text,
  Timestamp,
  UnixSeconds,
  Uuid,
} from '../../platform/http/schemas.ts';
import { WRITES_PER_DAY } from '../../platform/limits/write-budget.ts';
import { Member } from '../membership/contract.ts';

const BODY_LIMIT = 4096;

const Scope = z
  .enum(SCOPES)
  .meta({ id: 'Scope', description: 'What the bearer of a credential may do' });

const Scopes = z
  .array(Scope)
  .min(1)
  .max(SCOPES.length)
  .refine((scopes) => new Set(scopes).size === scopes.length, 'must be different from each other')
  .meta({ uniqueItems: true });

export const Credential = z
  .object({
    credential_id: AnyUuid,
    member_id: AnyUuid,
    label: PlainText.optional(),
    scopes: z.array(z.enum(SCOPES)),
    state: z.enum(['active', 'expired', 'revoked']),
    created_at: Timestamp,
    expires_at: UnixSeconds,
    last_used_on: z.iso.date().optional().describe('The last UTC day of use; absent if never used'),
    revoked_at: Timestamp.optional(),
    revoked_reason: z
      .enum(['rotated', 'revoked', 'recovery', 'deactivated', 'disabled'])
      .optional(),
  })
  .meta({ id: 'Credential' });
export type CredentialBody = z.input<typeof Credential>;

const Replacement = z
  .strictObject({
    credential_id: Uuid,
    credential_secret: Key,
    scopes: Scopes,
    expires_at: UnixSeconds,
    label: Text(1, 60).optional(),
  })
  .meta({ id: 'ReplacementCredential' });

const NewCredential = z
  .strictObject({ member_id: Uuid, sign_in_key: Key, ...Replacement.shape })
  .meta({ id: 'CredentialRequest' });

const CredentialSelection = z
  .strictObject({ credential_id: Uuid })
  .meta({ id: 'CredentialSelection' });

const EveryOther = z
  .strictObject({ all_others: z.literal(true) })
  .meta({ id: 'EveryOtherCredential' });

const CredentialsToRevoke = z
  .union([CredentialSelection, EveryOther])
  .meta({ id: 'CredentialsToRevoke' });

const reply = { credential: Credential, receipt: ReceiptBody };

const CredentialReply = z
  .object({ status: z.enum(['created', 'revoked']), ...reply })
  .meta({ id: 'CredentialReply' });

const RevokedOthersReply = z
  .object({ status: z.literal('revoked'), credentials: z.array(Credential), receipt: ReceiptBody })
  .meta({ id: 'RevokedOthersReply' });

const RevocationReply = z
  .union([CredentialReply, RevokedOthersReply])
  .meta({ id: 'RevocationReply' });

const CredentialsPage = z
  .object({
    status: z.literal('ok'),
    credentials: z.array(Credential),
    ...NextPage,
  })
  .meta({ id: 'CredentialsPage' });

const RotationReply = z
  .object({ status: z.literal('rotated'), revoked_credential_id: AnyUuid, ...reply })
  .meta({ id: 'RotationReply' });

const WriteBudget = z
  .object({ limit: z.int(), used: z.int(), resets_at: Timestamp })
  .meta({ id: 'WriteBudget' });

const MeReply = z
  .object({
    status: z.literal('ok'),
    member: Member,
    credential: Credential,
    write_budget: WriteBudget,
  })
  .meta({ id: 'MeReply' });

export const BOOTSTRAP_ATTEMPTS = {
  kind: 'bootstrap',
  window: '10 minutes',
  setting: 'limitBootstrapAttempts',
  per: 'address',
  counts: 'attempts to make a credential with the sign-in key',
} as const satisfies RateLimit;

export const credentialsContract = defineContract({
  'credential.bootstrap': {
    method: 'POST',
    path: '/api/v1/credentials',
    summary: 'Make a scoped credential with the sign-in key',
    description:
      'The client makes the id and the secret; the bearer is `svc_<credential_id>.<credential_secret>`. ' +
      '`expires_at` is 60 seconds to 24 hours from now. At most ten are active at a time.',
    tag: 'credentials',
    access: 'public',
    securityEvents: { failed: 'credential_failed' },
    bodyLimit: BODY_LIMIT,
    idempotency: 'required',
    body: NewCredential,
    limits: [BOOTSTRAP_ATTEMPTS],
    replies: {
      201: {
        description: 'Created',
        body: CredentialReply,
        headers: REPLAYED_HEADER,
        location: '/api/v1/me',
      },
    },
    problems: [...COMMAND_PROBLEMS, 'invalid_request', 'scope_escalation', 'state_conflict'],
  },
  'credential.rotate': {
    method: 'POST',
    path: '/api/v1/me/credentials/rotate',
    summary: 'Replace the current credential by one with the same or fewer scopes',
    description:
      'The present bearer is dead at once. Without `label`, the new credential keeps that of the present one. After a lost answer repeat the same key and body with the new bearer.',
    tag: 'credentials',
    access: { scope: 'credential:manage' },
    bodyLimit: BODY_LIMIT,
    idempotency: 'required',
    limits: [WRITES_PER_DAY],
    body: Replacement,
    replies: {
      201: {
        description: 'Rotated',
        body: RotationReply,
        headers: REPLAYED_HEADER,
        location: '/api/v1/me',
      },
    },
    problems: [...COMMAND_PROBLEMS, 'invalid_request', 'scope_escalation', 'state_conflict'],
  },
  'credential.revoke': {
    method: 'POST',
    path: '/api/v1/me/credentials/revoke',
    summary: "Revoke one of the member's credentials, or all others",
    description:
      'A credential that has already ended is returned unchanged. With `all_others`, every active ' +
      'credential but that of the request is revoked; the answer lists them.',
    tag: 'credentials',
    access: { scope: 'credential:manage' },
    bodyLimit: BODY_LIMIT,
    idempotency: 'required',
    body: CredentialsToRevoke,
    replies: {
      200: {
        description: 'Revoked',
        body: RevocationReply,
        headers: REPLAYED_HEADER,
      },
    },
    problems: [...COMMAND_PROBLEMS, 'invalid_request', 'scope_escalation', 'state_conflict'],
  },
  'credential.list': {
    method: 'GET',
    path: '/api/v1/me/credentials',
    summary: "The member's credentials, newest first",
    tag: 'credentials',
    access: { scope: 'credential:manage' },
    query: z.object({
      state: z.enum(['active']).optional(),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
    replies: { 200: { description: 'A page', body: CredentialsPage } },
    problems: ['invalid_request', 'invalid_cursor'],
  },
  'credential.me': {
    method: 'GET',
    path: '/api/v1/me',
    summary: 'The member and the credential of the bearer',
    tag: 'credentials',
    access: 'bearer',
    replies: {
      200: {
        description: 'Confirmed',
        body: MeReply,
      },
    },
    problems: [],
  },
});
