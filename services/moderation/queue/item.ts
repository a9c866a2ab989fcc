import { z } from 'zod';
import { ACTIONS } from '../../../domain/moderation/roles.ts';
import { FOLD_KINDS } from '../../../domain/moderation/words.ts';
import { AnyUuid, Timestamp, UnixSeconds } from '../../../platform/http/schemas.ts';
import { MAX_FOLDED } from './live-folds.ts';
import { Screening } from './screening.ts';

/** Set by a lead who takes over an item that another moderator has claimed. */
export const TakeOver = z
  .boolean()
  .optional()
  .describe(
    'Only for leads: end the claim of another moderator, who is notified. The audit has it',
  );

export const Version = z.int().min(1);

export const NoteStateName = z.enum(['pending', 'approved', 'rejected', 'removed', 'withdrawn']);

export const Moderator = z.object({ id: AnyUuid, name: z.string() }).meta({ id: 'Moderator' });

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
    /** Null if a guest made the report. */
    member_id: AnyUuid.nullable(),
    state: z.enum(['open', 'kept', 'removed', 'withdrawn', 'silent']),
    reported_at: Timestamp,
  })
  .meta({ id: 'ItemReport' });

export const Appeal = z
  .object({
    id: AnyUuid,
    state: z.enum(['open', 'granted', 'upheld', 'moot']),
    text: z.string(),
    opened_at: Timestamp,
  })
  .meta({ id: 'ItemAppeal' });

/** The schema of the decision in force on a note or a record. */
export const toDecision = <const Words extends readonly string[]>(words: Words) =>
  z.object({
    event_id: AnyUuid,
    decision: z.enum(words),
    policy: z.string().nullable(),
    message: z.string().nullable(),
    /** Null if the service decided by a rule. */
    moderator: Moderator.nullable(),
    decided_at: Timestamp,
    /** Whether the caller may undo the decision now; its own moderator may until `undo_until`. */
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
  'kept',
  'upheld',
  'deferred',
  'escalated',
] as const;
export type NoteDecision = (typeof NOTE_DECISIONS)[number];

export const Fold = z
  .object({
    kind: z.enum(FOLD_KINDS).describe('Whether the notes have one text or came from one address'),
    note_id: AnyUuid.describe(
      'The note that was folded: `like` or `same_address_as` lists the others',
    ),
    notes: z.int().describe(`How many notes wait in this row, at most ${MAX_FOLDED}`),
    moderator: Moderator.describe('Who folded them'),
    ends_at: Timestamp.describe('When the notes have rows of their own again'),
  })
  .meta({
    id: 'NoteFold',
    description: 'Waiting notes of guests that share one row of the queue.',
  });
export type Fold = z.input<typeof Fold>;

/** A note with everything that a moderator needs to decide. */
export const Item = z
  .object({
    id: AnyUuid,
    state: NoteStateName,
    tier: z.enum(['lead', 'normal']),
    experience: z.string(),
    /** Empty if the text was erased. */
    text: z.string(),
    erased: z.boolean(),
    author: z.object({
      kind: z.enum(['guest', 'member']),
      name: z.string(),
      member_id: AnyUuid.nullable(),
      approved: z.int().describe('Of the newest 1,000 notes of this author that were decided'),
      rejected: z.int().describe('Of the same 1,000 notes'),
    }),
    parent: z.object({ id: AnyUuid, text: z.string(), public: z.boolean() }).nullable(),
    received_at: Timestamp,
    age_seconds: z.int(),
    /** Whether the note has been pending for more than 24 hours. */
    past_due: z.boolean(),
    deferred_until: Timestamp.nullable(),
    version: Version,
    screening: Screening,
    claim: Claim.nullable(),
    /** The newest 20 reports. */
    reports: z.array(Report),
    guest_reporters: z
      .int()
      .describe(
        'Guests who reported the note in the last 48 hours, at most 1000. While 50 reports are ' +
          'open, further reports of guests are counted here only',
      ),
    same_address: z
      .int()
      .describe(
        "Other notes that guests sent from this guest's address (of IPv6: its /48) in the last 48 " +
          'hours, at most 1000; `same_address_as` lists them',
      ),
    fold: Fold.nullable().describe('The waiting notes for which this one has a row of the queue'),
    /** Up to five notes with the most similar text, found by fingerprints of their screenings. */
    look_alikes: z.array(
      z.object({ id: AnyUuid, state: NoteStateName, text: z.string(), similarity: z.number() }),
    ),
    appeal: Appeal.nullable(),
    decision: toDecision(NOTE_DECISIONS)
      .nullable()
      .describe(
        'The decision that made the note what it is; within its undo window the answer to reports or ' +
          'to an appeal. Of a pending note the deferral that is not over or the escalation; null where ' +
          'there is none, and of a withdrawn note',
      ),
    allowed_actions: z.array(z.enum(ACTIONS)),
  })
  .meta({ id: 'ReviewItem' });
export type Item = z.input<typeof Item>;
