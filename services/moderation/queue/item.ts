import { z } from 'zod';
import { AnyUuid, Timestamp, UnixSeconds } from '../../../platform/http/schemas.ts';
import { ACTIONS, ROLES } from '../staff/roles.ts';
import { Screening } from './screening.ts';

export const Version = z.int().min(1);

export const NoteStateName = z.enum(['pending', 'approved', 'rejected', 'removed', 'withdrawn']);

export const Moderator = z.object({ id: AnyUuid, name: z.string() }).meta({ id: 'Moderator' });

export const RankedModerator = z
  .object({ id: AnyUuid, name: z.string(), role: z.enum(ROLES) })
  .meta({ id: 'RankedModerator' });

export const Claim = z
  .object({
    lease_id: AnyUuid,
    moderator: Moderator,
    claimed_at: Timestamp,
    expires_at: UnixSeconds,
    mine: z.boolean(),
  })
  .meta({ id: 'ItemClaim' });

export const Report = z
  .object({
    id: AnyUuid,
    reason: z.string(),
    details: z.string().nullable(),
    /** Null: anyone from the page. */
    member_id: AnyUuid.nullable(),
    state: z.enum(['open', 'kept', 'removed', 'withdrawn', 'silent']),
    reported_at: Timestamp,
  })
  .meta({ id: 'ItemReport' });

const Appeal = z
  .object({
    id: AnyUuid,
    state: z.enum(['open', 'granted', 'upheld', 'moot']),
    text: z.string(),
    opened_at: Timestamp,
  })
  .meta({ id: 'ItemAppeal' });

/** The decision that stands, of a note or a record. */
export const decisionOf = <const Words extends readonly string[]>(words: Words) =>
  z.object({
    event_id: AnyUuid,
    decision: z.enum(words),
    policy: z.string().nullable(),
    message: z.string().nullable(),
    /** Null: the service, by a rule. */
    moderator: Moderator.nullable(),
    decided_at: Timestamp,
    /** Whether the caller may undo it now; `undo_until` is when its decider no longer may. */
    undo_allowed: z.boolean(),
    undo_until: Timestamp.nullable(),
    told_at: Timestamp.nullable(),
  });

const NOTE_DECISIONS = [
  'approved',
  'rejected',
  'removed',
  'restored',
  'granted',
  'deferred',
  'escalated',
] as const;
export type NoteDecision = (typeof NOTE_DECISIONS)[number];

/** A note with all that a decision needs. */
export const Item = z
  .object({
    id: AnyUuid,
    state: NoteStateName,
    tier: z.enum(['lead', 'normal']),
    experience: z.string(),
    /** Empty where it was erased. */
    text: z.string(),
    erased: z.boolean(),
    author: z.object({
      kind: z.enum(['guest', 'member']),
      name: z.string(),
      member_id: AnyUuid.nullable(),
      approved: z.int(),
      rejected: z.int(),
    }),
    parent: z.object({ id: AnyUuid, text: z.string(), public: z.boolean() }).nullable(),
    received_at: Timestamp,
    age_seconds: z.int(),
    /** Pending for more than 24 hours. */
    past_due: z.boolean(),
    deferred_until: Timestamp.nullable(),
    version: Version,
    screening: Screening,
    claim: Claim.nullable(),
    /** The newest twenty. */
    reports: z.array(Report),
    /** Notes that read like it, by their screenings: the five most alike. */
    look_alikes: z.array(
      z.object({ id: AnyUuid, state: NoteStateName, text: z.string(), similarity: z.number() }),
    ),
    appeal: Appeal.nullable(),
    decision: decisionOf(NOTE_DECISIONS)
      .nullable()
      .describe(
        'The decision that made the note what it is. Of a pending note the deferral that is not ' +
          'over or the escalation; null where there is none, and of a withdrawn note',
      ),
    allowed_actions: z.array(z.enum(ACTIONS)),
  })
  .meta({ id: 'ReviewItem' });
export type Item = z.input<typeof Item>;
