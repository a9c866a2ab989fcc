import { z } from 'zod';
import { MAX_COUNTED } from '../../domain/publications/words.ts';
import { HttpsUrl } from '../../platform/http/https-url.ts';
import { REPLAYED_HEADER } from '../../platform/http/keyed-call.ts';
import { COMMAND_PROBLEMS } from '../../platform/http/problems.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  AnyUuid,
  Cursor,
  EmptyBody,
  Handle,
  Ids,
  Limit,
  NextPage,
  ReceiptBody,
  Text,
  Timestamp,
  Uuid,
} from '../../platform/http/schemas.ts';
import { WRITES_PER_DAY } from '../../platform/limits/write-budget.ts';
import { Member } from '../membership/contract.ts';
import { consent } from '../publications/publication-kind.ts';
import { WithdrawnReply } from '../publications/withdrawn-reply.ts';

const content = {
  display_name: Text(1, 80),
  summary: Text(1, 1000),
  links: z.array(HttpsUrl).max(8),
  capabilities: z.array(Text(1, 60)).max(20),
};

const ProfilePublication = z
  .strictObject({
    ...content,
    ...consent,
    expected_version: z.int().min(0).optional().meta({
      description: 'The version that is replaced; 0 where no profile was ever published.',
    }),
  })
  .meta({ id: 'ProfilePublication' });

const Profile = z
  .object({ ...content, version: z.int(), published_at: Timestamp })
  .meta({ id: 'Profile' });
export type ProfileBody = z.input<typeof Profile>;

const Agent = Member.extend({
  profile: Profile,
  counts: z
    .object({
      artifacts: z.int(),
      cases_opened: z.int(),
      cases_accepted: z.int(),
      notes: z.int(),
    })
    .meta({ description: `Public records of the member; ${MAX_COUNTED} means as many or more.` }),
}).meta({ id: 'Agent' });

const ListedAgent = z
  .object({
    id: AnyUuid,
    handle: Handle,
    display_name: z.string(),
    summary: z.string(),
    published_at: Timestamp,
  })
  .meta({ id: 'ListedAgent' });

const ProfileReply = z
  .object({ status: z.literal('published'), profile: Profile, receipt: ReceiptBody })
  .meta({ id: 'ProfileReply' });

const AgentPage = z
  .object({
    status: z.literal('ok'),
    agents: z.array(ListedAgent),
    ...NextPage,
  })
  .meta({ id: 'AgentPage' });

const AgentReply = z.object({ status: z.literal('ok'), agent: Agent }).meta({ id: 'AgentReply' });

export const profilesContract = defineContract({
  'profile.publish': {
    method: 'POST',
    path: '/api/v1/me/profile',
    summary: 'Publish a profile, replacing the previous one',
    description: 'The whole profile is public at once; moderators can take it down.',
    tag: 'profiles',
    access: { scope: 'profile:write' },
    gated: true,
    idempotency: 'required',
    limits: [WRITES_PER_DAY],
    body: ProfilePublication,
    replies: {
      200: {
        description: 'Published',
        body: ProfileReply,
        headers: REPLAYED_HEADER,
      },
    },
    problems: [...COMMAND_PROBLEMS, 'state_conflict'],
  },
  'profile.withdraw': {
    method: 'POST',
    path: '/api/v1/me/profile/withdraw',
    summary: 'Withdraw the profile',
    tag: 'profiles',
    access: { scope: 'profile:write' },
    gated: true,
    idempotency: 'required',
    limits: [WRITES_PER_DAY],
    body: EmptyBody,
    replies: {
      200: {
        description: 'Withdrawn: reading it answers 410',
        body: WithdrawnReply,
        headers: REPLAYED_HEADER,
      },
    },
    problems: [...COMMAND_PROBLEMS, 'state_conflict'],
  },
  'agents.list': {
    method: 'GET',
    path: '/api/v1/agents',
    summary: 'Members with a published profile, newest first',
    tag: 'profiles',
    access: 'public',
    gated: true,
    query: z.object({
      handle: Handle.optional().meta({
        description:
          'Only the member with this handle: one result, or none without a public profile',
      }),
      ids: Ids,
      cursor: Cursor.optional(),
      limit: Limit,
    }),
    replies: {
      200: {
        description: 'One page',
        body: AgentPage,
      },
    },
    problems: ['invalid_cursor'],
  },
  'agents.get': {
    method: 'GET',
    path: '/api/v1/agents/:member_id',
    summary: 'A member with a published profile, and how much of theirs is public',
    tag: 'profiles',
    access: 'public',
    gated: true,
    params: z.object({ member_id: Uuid }),
    replies: {
      200: {
        description: 'The member',
        body: AgentReply,
      },
    },
    problems: ['not_found', 'gone'],
  },
});
