import { z } from 'zod';
import { REPLAYED_HEADER } from '../../platform/http/keyed-call.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  AnyUuid,
  Cursor,
  EmptyBody,
  GivenUuid,
  Handle,
  Key,
  Limit,
  NextPage,
  StatusReply,
  Timestamp,
  UnixSeconds,
  Uuid,
} from '../../platform/http/schemas.ts';

export const Member = z
  .object({
    id: Uuid,
    handle: Handle,
    identity: z.literal('chosen_service_handle'),
    network_verified: z.literal(false),
  })
  .meta({ id: 'Member' });

/** The body that describes a member. */
export function memberBody(id: string, handle: string): z.infer<typeof Member> {
  return { id, handle, identity: 'chosen_service_handle', network_verified: false };
}

const BODY_LIMIT = 4096;

/** Counts attempts with keys. A malformed body is refused before the handler and is not counted. */
export const KEY_ATTEMPTS = {
  kind: 'keys',
  window: '10 minutes',
  setting: 'limitKeyAttempts',
  per: 'address',
  counts: 'attempts with keys: registration, sign-in, recovery, and requests of disabled members',
} as const satisfies RateLimit;

/** New members, counted by the command, which refuses one too many. */
export const REGISTRATIONS = {
  kind: 'registration',
  window: '1 day',
  setting: 'limitRegistrationsPerDay',
  per: 'address',
  counts: 'registrations',
} as const satisfies RateLimit;

export const ALL_REGISTRATIONS = {
  kind: 'registrations-service',
  window: '1 hour',
  setting: 'limitRegistrationsPerHour',
  per: 'service',
  counts: 'registrations',
} as const satisfies RateLimit;

const MemberReply = StatusReply.extend({ member: Member }).meta({ id: 'MemberReply' });

const NewMember = z
  .strictObject({ id: Uuid, handle: Handle, sign_in_key: Key, recovery_key: Key })
  .refine((body) => body.sign_in_key !== body.recovery_key, {
    message: 'must differ from sign_in_key',
    path: ['recovery_key'],
  })
  .meta({ id: 'MemberRequest' });

const SignIn = z.strictObject({ id: Uuid, sign_in_key: Key }).meta({ id: 'SignIn' });

const HandleSignIn = z
  .strictObject({ handle: Handle, sign_in_key: Key })
  .meta({ id: 'HandleSignIn' });

const Recovery = z
  .strictObject({
    id: Uuid,
    recovery_key: Key,
    new_sign_in_key: Key,
    new_recovery_key: Key,
    operation_id: Uuid,
  })
  .refine((body) => body.new_sign_in_key !== body.new_recovery_key, {
    message: 'must differ from new_sign_in_key',
    path: ['new_recovery_key'],
  })
  .meta({ id: 'Recovery' });

export const ExportedSession = z
  .object({
    id: AnyUuid,
    started_at: Timestamp,
    expires_at: UnixSeconds,
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'ExportedSession' });

const Session = ExportedSession.extend({
  current: z.boolean().describe('Whether this is the session of the request'),
}).meta({ id: 'Session' });

const SessionsPage = z
  .object({
    status: z.literal('ok'),
    sessions: z.array(Session),
    ...NextPage,
  })
  .meta({ id: 'SessionsPage' });

const SessionsToRevoke = z
  .union([
    z.strictObject({ session_id: GivenUuid }).meta({ id: 'SessionSelection' }),
    z.strictObject({ all_others: z.literal(true) }).meta({ id: 'EveryOtherSession' }),
  ])
  .meta({ id: 'SessionsToRevoke' });

const RevokedSessionsReply = z
  .object({ status: z.literal('revoked'), sessions: z.array(Session) })
  .meta({ id: 'RevokedSessionsReply' });

/** The reply to a sign-in, however it was proven. */
export const SIGNED_IN = {
  description: 'Signed in; `expires_at` is the end of the session',
  body: StatusReply,
  headers: { 'Set-Cookie': 'The session cookie' },
} as const;

export const membershipContract = defineContract({
  'membership.register': {
    method: 'POST',
    path: '/api/membership/register',
    summary: 'Register with a handle and two keys that the client made',
    description:
      'Idempotent by content: the same four values again answer the same 200. Proves control of the submitted keys only. Handles that look like the service itself, such as `admin` or `guestbook`, are reserved: 400 with an issue at `handle`.',
    tag: 'membership',
    access: 'public',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: NewMember,
    limits: [KEY_ATTEMPTS, REGISTRATIONS, ALL_REGISTRATIONS],
    replies: {
      200: {
        description: 'New member, or the matching earlier registration',
        body: MemberReply,
      },
    },
    problems: ['invalid_request', 'registration_conflict', 'admission_closed', 'capacity_reached'],
  },
  'membership.login': {
    method: 'POST',
    path: '/api/membership/login',
    summary: 'Sign in with the id and the sign-in key',
    tag: 'membership',
    access: 'public',
    securityEvents: { failed: 'sign_in_failed' },
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: SignIn,
    limits: [KEY_ATTEMPTS],
    replies: { 200: SIGNED_IN },
    problems: ['credentials_not_accepted'],
  },
  'membership.sign_in': {
    method: 'POST',
    path: '/api/membership/sign-in',
    summary: 'Sign in with the handle and the sign-in key, as the pages do',
    description:
      'For people, who know their handle and let a password manager keep the key. Programs use ' +
      '`login`: an id stays valid where a handle could be mistyped. An unknown handle and a wrong key ' +
      'are answered alike. If the membership is disabled, the refusal has its `member_id`.',
    tag: 'membership',
    access: 'public',
    securityEvents: { failed: 'sign_in_failed' },
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: HandleSignIn,
    limits: [KEY_ATTEMPTS],
    replies: { 200: SIGNED_IN },
    problems: ['credentials_not_accepted'],
  },
  'membership.recover': {
    method: 'POST',
    path: '/api/membership/recover',
    summary: 'Replace both keys with the recovery key',
    description:
      'Ends every session and credential. Idempotent by `operation_id` and the complete body.',
    tag: 'membership',
    access: 'public',
    securityEvents: { failed: 'recovery_failed', succeeded: 'recovered' },
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: Recovery,
    limits: [KEY_ATTEMPTS],
    replies: {
      200: { description: 'Recovery recorded; no session is created', body: StatusReply },
    },
    problems: ['credentials_not_accepted', 'invalid_request'],
  },
  'membership.logout': {
    method: 'POST',
    path: '/api/membership/logout',
    summary: 'End the session of the cookie',
    tag: 'membership',
    access: 'session?',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: EmptyBody,
    replies: {
      200: {
        description: 'Signed out, whether there was a session or not',
        body: StatusReply,
        headers: { 'Set-Cookie': 'Clears the session cookie' },
      },
    },
    problems: [],
  },
  'membership.me': {
    method: 'GET',
    path: '/api/membership/me',
    summary: 'The member of the current session',
    tag: 'membership',
    access: 'session?',
    checksSession: true,
    unknownQuery: 'ignored',
    replies: { 200: { description: 'The member', body: MemberReply } },
    problems: ['session_required'],
    bareProblems: [401],
    problemHeaders: { 401: { 'Set-Cookie': 'Clears the session cookie' } },
  },
  'membership.sessions': {
    method: 'GET',
    path: '/api/membership/sessions',
    summary: "The member's live sessions, newest first",
    tag: 'membership',
    access: 'session',
    query: z.object({ cursor: Cursor.optional(), limit: Limit }),
    replies: { 200: { description: 'A page', body: SessionsPage } },
    problems: ['session_required', 'invalid_request', 'invalid_cursor'],
  },
  'membership.revoke_sessions': {
    method: 'POST',
    path: '/api/membership/sessions/revoke',
    summary: "Revoke one of the member's sessions, or all others",
    description:
      'A session that has already ended is returned unchanged. With `all_others`, every live session ' +
      'but that of the request is revoked; the answer lists them.',
    tag: 'membership',
    access: 'session',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    idempotency: 'optional',
    body: SessionsToRevoke,
    replies: {
      200: {
        description: 'Revoked',
        body: RevokedSessionsReply,
        headers: {
          ...REPLAYED_HEADER,
          'Set-Cookie': 'Clears the session cookie, if the session of the request was revoked',
        },
      },
    },
    problems: ['session_required', 'invalid_request', 'state_conflict', 'idempotency_conflict'],
  },
});
