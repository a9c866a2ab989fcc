import { z } from 'zod';
import { READERS } from '../../../domain/moderation/roles.ts';
import { ROLES } from '../../../domain/permissions.ts';
import type { RateLimit } from '../../../platform/http/rate-limit.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { AnyUuid, Text, UnixSeconds } from '../../../platform/http/schemas.ts';

export const RankedModerator = z
  .object({ id: AnyUuid, name: z.string(), role: z.enum(ROLES) })
  .meta({ id: 'RankedModerator' });

const ModeratorToken = z
  .strictObject({
    token: Text(1, 200).describe('`mod_<uuid>.<64 hex>`, as the operator handed it out'),
  })
  .meta({ id: 'ModeratorToken' });

const ModeratorSessionReply = z
  .object({
    status: z.literal('signed_in'),
    moderator: RankedModerator,
    expires_at: UnixSeconds,
  })
  .meta({ id: 'ModeratorSessionReply' });

const SignOutReply = z.object({ status: z.literal('signed_out') }).meta({ id: 'SignOutReply' });

export const MODERATOR_KEY_ATTEMPTS = {
  kind: 'moderator-keys',
  window: '10 minutes',
  setting: 'limitKeyAttempts',
  per: 'address',
  counts: 'sign-in attempts of moderators',
} as const satisfies RateLimit;

export const moderatorSessionContract = defineContract({
  'moderation.sign_in': {
    method: 'POST',
    path: '/api/moderation/session',
    summary: "Exchange a moderator's token for a browser session",
    description:
      'Over after 8 hours without a request, and after 24 hours in any case. The session whose ' +
      'cookie was sent ends. With the cookie, every mutation needs the `Origin` of this service.',
    tag: 'moderation',
    access: 'public',
    securityEvents: { failed: 'moderator_refused' },
    origin: 'cookie',
    idempotency: 'optional',
    body: ModeratorToken,
    limits: [MODERATOR_KEY_ATTEMPTS],
    replies: {
      200: {
        description: 'Signed in; `expires_at` is the latest end of the session',
        body: ModeratorSessionReply,
        headers: { 'Set-Cookie': 'The session cookie, `__Host-ServiceModerator`' },
      },
    },
    problems: ['moderator_required'],
  },
  'moderation.sign_out': {
    method: 'DELETE',
    path: '/api/moderation/session',
    summary: 'End the session and give every claimed note back',
    description: 'By bearer there is no session to end, and the leases are released all the same.',
    tag: 'moderation',
    access: { roles: READERS },
    replies: {
      200: {
        description: 'Signed out',
        body: SignOutReply,
        headers: { 'Set-Cookie': 'Clears the session cookie' },
      },
    },
    problems: ['moderator_required'],
  },
});
