import { z } from 'zod';
import { LEADS } from '../../domain/moderation/roles.ts';
import { REPLAYED_HEADER } from '../../platform/http/keyed-call.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  AnyUuid,
  EmptyBody,
  Key,
  StatusReply,
  Text,
  Timestamp,
  Uuid,
} from '../../platform/http/schemas.ts';
import { KEY_ATTEMPTS } from '../membership/contract.ts';
import { DECIDE_PROBLEMS } from '../moderation/decisions/contract.ts';
import { PolicyCode } from '../moderation/policies/contract.ts';

const params = z.object({ member_id: Uuid });

const NewDisabling = z
  .strictObject({
    policy: PolicyCode.describe('Of an active policy: GET /api/moderation/policies has them.'),
    message: Text(1, 500).nullable().optional().describe('Words to the member'),
    until: z.iso
      .datetime({ offset: true })
      .nullable()
      .optional()
      .describe('Null or absent: until a lead lifts it'),
  })
  .meta({ id: 'DisablingRequest' });

const toReply = <const Status extends string>(status: Status, id: string) =>
  z.object({ status: z.literal(status), event_id: AnyUuid, undo_until: Timestamp }).meta({ id });

/** The most bytes of a request that proves the sign-in key of a disabled member. */
export const PROOF_BODY_LIMIT = 4096;

const DisabledMember = z
  .strictObject({ id: Uuid, sign_in_key: Key })
  .meta({ id: 'DisabledMember' });

/** What a disabled member can do, each with a request of its own. */
const ACTIONS = ['appeal', 'export', 'delete'] as const;

const DisabledReply = z
  .object({
    status: z.literal('disabled'),
    id: AnyUuid,
    since: Timestamp,
    until: Timestamp.nullable().describe('Null: until a lead lifts it'),
    policy: z.string().optional().describe('Its code; absent until the undo window is over'),
    title: z
      .string()
      .optional()
      .describe('That of the policy; absent until the undo window is over'),
    message: z
      .string()
      .nullable()
      .optional()
      .describe('Words to the member; absent until the undo window is over'),
    appeal: z
      .object({
        id: AnyUuid,
        state: z.enum(['open', 'granted', 'upheld', 'moot']),
        text: z.string(),
        opened_at: Timestamp,
        decided_at: Timestamp.nullable(),
        message: z.string().nullable().describe('Words of the moderator who decided it'),
      })
      .nullable()
      .describe('Your appeal against this disabling'),
    actions: z.array(z.enum(ACTIONS)).describe('What you can do now: POST …/disabled/appeal, …'),
  })
  .meta({ id: 'DisabledReply' });

/** What the routes of a disabled member have in common. */
export const PROVEN_EACH_TIME = {
  method: 'POST',
  tag: 'disabling',
  access: 'public',
  origin: 'cookie',
  bodyLimit: PROOF_BODY_LIMIT,
  limits: [KEY_ATTEMPTS],
} as const;

export const DISABLED_PROBLEMS = ['credentials_not_accepted', 'state_conflict'] as const;

export const disabledContract = defineContract({
  'membership.disabled': {
    ...PROVEN_EACH_TIME,
    path: '/api/membership/disabled',
    summary: 'Why your membership is disabled, until when, and what you can do',
    description:
      'With the sign-in key, like each request of a disabled member. A member who is not disabled gets ' +
      '`wrong_state`.',
    body: DisabledMember,
    replies: { 200: { description: 'The disabling', body: DisabledReply } },
    problems: [...DISABLED_PROBLEMS],
  },
  'membership.appeal_disabling': {
    ...PROVEN_EACH_TIME,
    path: '/api/membership/disabled/appeal',
    summary: 'Appeal against the disabling of your membership',
    description: 'Once for each disabling, after its undo window. A second lead decides.',
    body: DisabledMember.extend({ text: Text(1, 500) }).meta({ id: 'DisablingAppeal' }),
    replies: { 202: { description: 'Waits for a second lead: appeal_opened', body: StatusReply } },
    problems: [...DISABLED_PROBLEMS, 'invalid_request'],
  },
});

export const disablingContract = defineContract({
  'moderation.disable_member': {
    method: 'POST',
    path: '/api/moderation/members/:member_id/disable',
    summary: 'Disable a membership, for a time or until a lead lifts it',
    description:
      'From this moment no session, sign-in or bearer of the member is accepted. Sessions end, ' +
      'credentials are revoked and claims released; nothing brings them back. What the member ' +
      'published stays. The member learns the policy and the words after the undo window. At most ' +
      '20 an hour. A lead against whose decision the member has an open appeal is refused with ' +
      '`second_person_required`.',
    tag: 'disabling',
    access: { roles: LEADS },
    params,
    body: NewDisabling,
    idempotency: 'optional',
    replies: {
      201: {
        headers: REPLAYED_HEADER,
        location: '/api/moderation/audit',
        description: 'Disabled',
        body: toReply('disabled', 'DisablingReply'),
      },
    },
    problems: [...DECIDE_PROBLEMS, 'invalid_request', 'rate_limited'],
  },
  'moderation.enable_member': {
    method: 'POST',
    path: '/api/moderation/members/:member_id/enable',
    summary: 'Lift the disabling of a membership',
    description:
      'An appeal that is open counts as granted; then who disabled the membership is refused with ' +
      '`second_person_required`.',
    tag: 'disabling',
    access: { roles: LEADS },
    params,
    body: EmptyBody,
    idempotency: 'optional',
    replies: {
      201: {
        headers: REPLAYED_HEADER,
        location: '/api/moderation/audit',
        description: 'Enabled',
        body: toReply('enabled', 'EnablingReply'),
      },
    },
    problems: [...DECIDE_PROBLEMS, 'invalid_request'],
  },
});
