import { z } from 'zod';
import { defineContract } from '../http/route.ts';
import { AnyUuid, Cursor, Limit, Text, UnixSeconds, Uuid } from '../http/schemas.ts';
import { CLAIMERS, DECIDERS, READERS, ROLES } from './roles.ts';
import { Screening } from './screening.ts';

/** Leases that one moderator holds at a time. */
export const MOST_LEASES = 10;

export const POLICIES = [
  'spam',
  'abuse',
  'personal_data',
  'illegal',
  'off_topic',
  'other',
] as const;

const Version = z.int().min(1);

const Claim = z.object({
  lease_id: AnyUuid,
  moderator: z.object({ id: AnyUuid, name: z.string() }),
  claimed_at: UnixSeconds,
  expires_at: UnixSeconds,
  mine: z.boolean(),
});

const Item = z
  .object({
    id: AnyUuid,
    state: z.enum(['pending', 'approved', 'rejected']),
    experience: z.string(),
    text: z.string(),
    author: z.object({
      kind: z.enum(['guest', 'member']),
      name: z.string(),
      member_id: AnyUuid.nullable(),
      approved: z.int(),
      rejected: z.int(),
    }),
    parent: z.object({ id: AnyUuid, text: z.string(), public: z.boolean() }).nullable(),
    received_at: UnixSeconds,
    age_seconds: z.int(),
    version: Version,
    screening: Screening,
    claim: Claim.nullable(),
    allowed_actions: z.array(z.enum(['approve', 'reject'])),
  })
  .meta({ id: 'ReviewItem' });
export type Item = z.input<typeof Item>;

const Lease = z.object({ lease_id: AnyUuid, note_id: AnyUuid, expires_at: UnixSeconds });

const LeaseIds = z.strictObject({ lease_ids: z.array(AnyUuid).min(1).max(100) });

export const ClaimRequest = z.union(
  [
    z.strictObject({ count: z.int().min(1).max(MOST_LEASES), view: z.literal('todo').optional() }),
    z.strictObject({ note_ids: z.array(Uuid).min(1).max(100) }),
  ],
  { error: 'must have either count (1 to 10) or note_ids' },
);
export type ClaimRequest = z.output<typeof ClaimRequest>;

export const DecisionRequest = z.discriminatedUnion(
  'action',
  [
    z.strictObject({ action: z.literal('approve'), expected_version: Version }),
    z.strictObject({
      action: z.literal('reject'),
      expected_version: Version,
      policy: z.enum(POLICIES),
      message: Text(1, 500).optional(),
    }),
  ],
  { error: 'must be approve or reject' },
);
export type DecisionRequest = z.output<typeof DecisionRequest>;

const Decided = z
  .object({
    status: z.enum(['decided', 'undone']),
    event_id: AnyUuid,
    state: z.enum(['pending', 'approved', 'rejected']),
    version: Version,
    /** Null where there is nothing to undo. */
    undo_until: UnixSeconds.nullable(),
  })
  .meta({ id: 'NoteDecision' });
export type Decided = z.input<typeof Decided>;

const Status = z.literal('ok');

export const moderationContract = defineContract({
  'moderation.me': {
    method: 'GET',
    path: '/api/moderation/me',
    summary: 'The moderator that the token proves, with the leases held',
    tag: 'moderation',
    access: { roles: READERS },
    replies: {
      200: {
        description: 'The moderator',
        body: z.object({
          status: Status,
          moderator: z.object({ id: AnyUuid, name: z.string(), role: z.enum(ROLES) }),
          leases: z.array(Lease),
        }),
      },
    },
    problems: ['moderator_required'],
  },
  'moderation.queue': {
    method: 'GET',
    path: '/api/moderation/queue',
    summary: 'Notes that wait for a decision, oldest first',
    tag: 'moderation',
    access: { roles: READERS },
    query: z.object({
      view: z.literal('todo').default('todo'),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
    replies: {
      200: {
        description: 'A page of the queue',
        body: z.object({
          status: Status,
          items: z.array(Item),
          next_cursor: z.string().nullable(),
          counts: z.object({ todo: z.int(), mine: z.int() }),
        }),
      },
    },
    problems: ['moderator_required', 'invalid_cursor'],
  },
  'moderation.claim': {
    method: 'POST',
    path: '/api/moderation/claims',
    summary: 'Take the next notes, or notes by their ids, for five minutes',
    description: 'All or none. No claims: the queue is clear. At most ten leases at a time.',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    body: ClaimRequest,
    replies: {
      200: {
        description: 'The leases',
        body: z.object({ status: Status, claims: z.array(Lease.extend({ item: Item })) }),
      },
    },
    problems: ['moderator_required', 'role_required', 'not_found', 'state_conflict'],
  },
  'moderation.renew': {
    method: 'POST',
    path: '/api/moderation/claims/renew',
    summary: 'Keep leases for five minutes more, thirty at most',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    body: LeaseIds,
    replies: {
      200: {
        description: 'Which leases stand and which are lost',
        body: z.object({ status: Status, renewed: z.array(AnyUuid), lost: z.array(AnyUuid) }),
      },
    },
    problems: ['moderator_required', 'role_required'],
  },
  'moderation.release': {
    method: 'POST',
    path: '/api/moderation/claims/release',
    summary: 'Give notes back to the queue',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    body: LeaseIds,
    replies: {
      200: {
        description: 'None of these leases is held any more',
        body: z.object({ status: Status, released: z.array(AnyUuid) }),
      },
    },
    problems: ['moderator_required', 'role_required'],
  },
  'moderation.decide': {
    method: 'POST',
    path: '/api/moderation/notes/:id/decisions',
    summary: 'Approve or reject a note',
    tag: 'moderation',
    access: { roles: DECIDERS },
    params: z.object({ id: Uuid }),
    body: DecisionRequest,
    replies: { 201: { description: 'Decided', body: Decided } },
    problems: ['moderator_required', 'role_required', 'not_found', 'state_conflict'],
  },
  'moderation.undo': {
    method: 'POST',
    path: '/api/moderation/decisions/:event_id/undo',
    summary: 'Undo a decision: its own for a while, a lead any at any time',
    tag: 'moderation',
    access: { roles: DECIDERS },
    params: z.object({ event_id: AnyUuid }),
    body: z.strictObject({ expected_version: Version }),
    replies: { 201: { description: 'The note is pending again', body: Decided } },
    problems: ['moderator_required', 'role_required', 'not_found', 'state_conflict'],
  },
});
