import { z } from 'zod';
import { AnyUuid, Timestamp } from '../../../platform/http/schemas.ts';
import { Appeal, Claim, toDecision } from './item.ts';
import type { HolderColumns } from './item-parts.ts';

/** How moderators decide an appeal against the disabling of a membership. */
export const MEMBER_ACTIONS = ['grant', 'uphold'] as const;
export type MemberAction = (typeof MEMBER_ACTIONS)[number];

const DECISIONS = ['disabled', 'enabled', 'granted', 'upheld'] as const;

/** A membership with everything that a lead needs to decide the member's appeal. Only leads read it. */
export const MemberItem = z
  .object({
    id: AnyUuid,
    subject: z.object({ type: z.literal('member'), id: AnyUuid }),
    state: z.enum(['disabled', 'enabled']),
    text: z.string().describe('The words of the latest appeal; empty without one'),
    author: z.object({ kind: z.literal('member'), name: z.string(), member_id: AnyUuid }),
    received_at: Timestamp.describe(
      'When the appeal was opened; without one, when the member joined',
    ),
    age_seconds: z.int(),
    version: z.int().min(0).describe('Rises with each decision on the membership, and each appeal'),
    claim: Claim.nullable(),
    disabling: z
      .object({
        event_id: AnyUuid,
        policy: z.string(),
        message: z.string().nullable().describe('Words to the member'),
        moderator: z
          .object({ id: AnyUuid, name: z.string() })
          .nullable()
          .describe('Null if the operator disabled the membership'),
        since: Timestamp,
        until: Timestamp.nullable().describe('Null: until a lead lifts it'),
      })
      .nullable()
      .describe('The latest disabling that was not undone; null if there is none'),
    appeal: Appeal.nullable().describe('The appeal against this disabling'),
    decision: toDecision(DECISIONS).nullable().describe('The latest decision that was not undone'),
    allowed_actions: z.array(z.enum(MEMBER_ACTIONS)),
  })
  .meta({ id: 'MemberItem' });
export type MemberItem = z.input<typeof MemberItem>;

/** A decision as a JSON row: its times are text. */
export interface MemberDecisionJson {
  event_id: string;
  decision: (typeof DECISIONS)[number];
  policy: string | null;
  message: string | null;
  moderator_id: string | null;
  moderator_name: string | null;
  decided_at: string;
}

/** A membership with its latest disabling, and what came of it. */
export interface MemberItemRow extends HolderColumns {
  member_id: string;
  handle: string | null;
  registered_at: Date;
  disabled: boolean;
  version: number;
  /** Null if there is none, or if it was undone. */
  disabling: (MemberDecisionJson & { until: string | null }) | null;
  /** The latest decision on this disabling that was not undone. */
  decision: MemberDecisionJson | null;
  appeal: {
    appeal_id: string;
    state: 'open' | 'granted' | 'upheld' | 'moot';
    text: string | null;
    opened_at: string;
  } | null;
  now: Date;
}
