import { z } from 'zod';
import { CLAIMERS, READERS } from '../../../domain/moderation/roles.ts';
import { REPLAYED_HEADER } from '../../../platform/http/keyed-call.ts';
import { defineContract } from '../../../platform/http/route.ts';
import {
  AnyUuid,
  Cursor,
  GivenUuid,
  NextPage,
  Text,
  Timestamp,
  Uuid,
} from '../../../platform/http/schemas.ts';
import { PolicyCode } from '../policies/contract.ts';
import { Item, NoteStateName, TakeOver, Version } from '../queue/item.ts';
import { AsOf } from './as-of.ts';

const Message = Text(1, 500);
const Policy = PolicyCode.describe('Of an active policy: GET /api/moderation/policies has them.');

const takeOver = { take_over: TakeOver };

const ACTION = {
  approve: { action: z.literal('approve'), ...takeOver },
  reject: { action: z.literal('reject'), ...takeOver, policy: Policy, message: Message.optional() },
  escalate: { action: z.literal('escalate'), ...takeOver, message: Message },
  /** `until` defaults to 24 hours from now and may be at most 72 hours ahead. */
  defer: {
    action: z.literal('defer'),
    ...takeOver,
    until: z.iso.datetime({ offset: true }).optional(),
  },
  remove: { action: z.literal('remove'), ...takeOver, policy: Policy, message: Message.optional() },
  restore: { action: z.literal('restore'), ...takeOver },
  keep: { action: z.literal('keep'), ...takeOver },
  grant: { action: z.literal('grant'), ...takeOver, message: Message.optional() },
  uphold: { action: z.literal('uphold'), ...takeOver, message: Message.optional() },
};

const expected = { expected_version: Version };

/** The request for one decision on one note or record, by its action. */
export const DECISION_ROUTE = {
  approve: z.strictObject({ ...ACTION.approve, ...expected }).meta({ id: 'Approval' }),
  reject: z.strictObject({ ...ACTION.reject, ...expected }).meta({ id: 'Rejection' }),
  escalate: z.strictObject({ ...ACTION.escalate, ...expected }).meta({ id: 'Escalation' }),
  defer: z.strictObject({ ...ACTION.defer, ...expected }).meta({ id: 'Deferral' }),
  remove: z.strictObject({ ...ACTION.remove, ...expected }).meta({ id: 'Removal' }),
  restore: z.strictObject({ ...ACTION.restore, ...expected }).meta({ id: 'Restoration' }),
  keep: z.strictObject({ ...ACTION.keep, ...expected }).meta({ id: 'Retention' }),
  grant: z.strictObject({ ...ACTION.grant, ...expected }).meta({ id: 'AppealGrant' }),
  uphold: z.strictObject({ ...ACTION.uphold, ...expected }).meta({ id: 'AppealRefusal' }),
};

export const DecisionRequest = z
  .discriminatedUnion('action', [
    DECISION_ROUTE.approve,
    DECISION_ROUTE.reject,
    DECISION_ROUTE.escalate,
    DECISION_ROUTE.defer,
    DECISION_ROUTE.remove,
    DECISION_ROUTE.restore,
    DECISION_ROUTE.keep,
    DECISION_ROUTE.grant,
    DECISION_ROUTE.uphold,
  ])
  .meta({ id: 'NoteDecision' });
export type DecisionRequest = z.output<typeof DecisionRequest>;

/**
 * The most decisions of one transaction, as of a batch: on a busy machine, 500 took longer than a
 * request may wait for storage.
 */
export const MAX_DECISIONS = 100;

const BatchItems = z
  .array(z.strictObject({ note_id: Uuid, ...expected }))
  .min(1)
  .max(MAX_DECISIONS)
  .refine(
    (items) => new Set(items.map((item) => item.note_id)).size === items.length,
    'must not name a note twice',
  )
  .meta({ uniqueItems: true });
const items = { items: BatchItems };
const BatchRequest = z
  .discriminatedUnion('action', [
    z.strictObject({ ...ACTION.approve, ...items }).meta({ id: 'BatchApproval' }),
    z.strictObject({ ...ACTION.reject, ...items }).meta({ id: 'BatchRejection' }),
    z.strictObject({ ...ACTION.escalate, ...items }).meta({ id: 'BatchEscalation' }),
    z.strictObject({ ...ACTION.defer, ...items }).meta({ id: 'BatchDeferral' }),
    z.strictObject({ ...ACTION.remove, ...items }).meta({ id: 'BatchRemoval' }),
    z.strictObject({ ...ACTION.restore, ...items }).meta({ id: 'BatchRestoration' }),
    z.strictObject({ ...ACTION.keep, ...items }).meta({ id: 'BatchRetention' }),
    z.strictObject({ ...ACTION.grant, ...items }).meta({ id: 'BatchAppealGrant' }),
    z.strictObject({ ...ACTION.uphold, ...items }).meta({ id: 'BatchAppealRefusal' }),
  ])
  .meta({ id: 'BatchDecision' });

const outcome = {
  event_id: AnyUuid,
  /** Only records are `published`; only memberships are `enabled` or `disabled`. */
  state: z.enum([...NoteStateName.options, 'published', 'enabled', 'disabled']),
  /** Only for a pending note, which a deferral may have escalated. */
  tier: z.enum(['normal', 'lead']).optional(),
  version: Version,
  /** Null if the decision cannot be undone. */
  undo_until: Timestamp.nullable(),
};

export const Decided = z
  .object({ status: z.enum(['decided', 'undone']), ...outcome })
  .meta({ id: 'DecisionReply' });
export type Decided = z.input<typeof Decided>;

/** The result for one item: `decided`, `undone`, or the code of its refusal with `error`. */
const BatchResult = z
  .object({
    note_id: AnyUuid,
    status: z.string(),
    event_id: AnyUuid.optional(),
    state: outcome.state.optional(),
    tier: z.enum(['normal', 'lead']).optional(),
    version: Version.optional(),
    undo_until: Timestamp.nullable().optional(),
    error: z.object({ code: z.string(), reason: z.string().optional() }).loose().optional(),
  })
  .meta({ id: 'BatchResult' });
export type BatchResult = z.input<typeof BatchResult>;

const Batch = z
  .object({
    status: z.enum(['decided', 'undone']),
    batch_id: AnyUuid,
    results: z.array(BatchResult),
  })
  .meta({ id: 'BatchReply' });

const UndoneBatch = Batch.extend(NextPage).meta({ id: 'UndoneBatch' });

/** A parent, sibling or reply of a note; a thread lists them oldest first. */
const ThreadNote = z
  .object({
    id: AnyUuid,
    relation: z.enum(['parent', 'sibling', 'reply']),
    state: NoteStateName,
    name: z.string(),
    text: z.string(),
    received_at: Timestamp,
  })
  .meta({ id: 'ThreadNote' });
export type ThreadNote = z.input<typeof ThreadNote>;

export const HistoryEvent = z
  .object({
    event_id: AnyUuid,
    /** The note's version at that time; screenings and notifications do not change it. */
    version: Version,
    type: z.string(),
    at: Timestamp,
    actor: z.object({ type: z.string(), id: AnyUuid.optional(), name: z.string().optional() }),
    /** Facts of the event, such as a policy, a reason or the undone decision. */
    data: z.record(z.string(), z.unknown()),
    /** A message to the author, the reason for an escalation, details of a report, or an appeal. */
    text: z.string().nullable(),
  })
  .meta({ id: 'HistoryEvent' });
export type HistoryEvent = z.input<typeof HistoryEvent>;

/** A page of an item's history, and the parameter that asks for an earlier one. */
export const history = {
  history: z
    .array(HistoryEvent)
    .describe('The newest 100 events, oldest first; with `history_before`, the 100 before these'),
  history_before: z
    .string()
    .nullable()
    .describe('As a parameter, leads to the earlier events of the history; null if there are none'),
};
export const HistoryQuery = z.object({
  history_before: Cursor.optional().meta({
    description: 'That of an earlier answer as of the same moment: its history goes on there.',
  }),
  as_of: AsOf.optional().describe(
    'What stood then, without what was erased since: a time with its zone, or the position of the last ' +
      'event of the log that counts. Rights and the undo window are those of now; claims, folds and ' +
      'addresses are not kept, so the answer has none',
  ),
});

const NoteDetails = z
  .object({
    status: z.literal('ok'),
    item: Item,
    thread: z.array(ThreadNote),
    ...history,
  })
  .meta({ id: 'NoteDetails' });

const ItemVersion = z
  .strictObject({
    expected_version: Version.optional().describe(
      'Required for a decision on a note or a record; one on a membership needs none',
    ),
  })
  .meta({ id: 'ItemVersion' });

const BatchPlace = z
  .strictObject({
    cursor: Cursor.optional().describe('`next_cursor` of the answer before, for a large rewind'),
  })
  .meta({ id: 'BatchPlace' });

export const DECIDE_PROBLEMS = [
  'moderator_required',
  'role_required',
  'not_found',
  'state_conflict',
  'idempotency_conflict',
] as const;

/** Why a decision on any item is refused. */
export type DecideRefusal =
  | 'moderator_required'
  | 'role_required'
  | 'not_found'
  | 'invalid_request'
  | 'state_conflict';

export const reviewContract = defineContract({
  'moderation.note': {
    method: 'GET',
    path: '/api/moderation/notes/:id',
    summary: 'A note with its thread and its history',
    tag: 'moderation',
    access: { roles: READERS },
    params: z.object({ id: Uuid }),
    query: HistoryQuery,
    replies: {
      200: {
        description: 'The note',
        body: NoteDetails,
      },
    },
    problems: ['invalid_request', 'moderator_required', 'not_found', 'invalid_cursor'],
  },
  'moderation.decide': {
    method: 'POST',
    path: '/api/moderation/notes/:id/decisions',
    summary: 'Decide on a note',
    description:
      'policy is obligatory for reject and remove; message is the reason of an escalation and the word to the author otherwise; a fourth deferral escalates, and so does each one after it that is no lead’s.',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    params: z.object({ id: Uuid }),
    body: DecisionRequest,
    idempotency: 'optional',
    replies: {
      201: {
        headers: REPLAYED_HEADER,
        location: '/api/moderation/notes/:id',
        description: 'Decided',
        body: Decided,
      },
    },
    problems: [...DECIDE_PROBLEMS, 'invalid_request'],
  },
  'moderation.undo': {
    method: 'POST',
    path: '/api/moderation/decisions/:event_id/undo',
    summary: 'Undo your own decision within the undo window; leads can undo those of others',
    description:
      'Approvals, rejections, removals, kept reports, answers to appeals, escalations, deferrals, and ' +
      'decisions on memberships; claims do not matter. After the ' +
      'window only a lead who did not decide may undo. While an appeal is open, its decider undoes ' +
      'nothing; undone by another lead, the appeal is granted. A triage moderator undoes only their ' +
      'own escalations and deferrals.',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    params: z.object({ event_id: GivenUuid }),
    body: ItemVersion,
    idempotency: 'optional',
    replies: {
      201: {
        headers: REPLAYED_HEADER,
        location: '/api/moderation/audit',
        description: 'The decision is undone',
        body: Decided,
      },
    },
    problems: [...DECIDE_PROBLEMS, 'invalid_request'],
  },
  'moderation.batch': {
    method: 'POST',
    path: '/api/moderation/decisions/batch',
    summary: 'Decide on up to a hundred notes at once',
    description:
      'Each item has a result; a refused item does not affect the others. If all are refused, ' +
      'nothing was changed and no receipt is stored, so the same key can be used again.',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    body: BatchRequest,
    idempotency: 'optional',
    replies: {
      200: {
        headers: REPLAYED_HEADER,
        description: 'A result for each item, in their order',
        body: Batch,
      },
    },
    problems: ['invalid_request', 'moderator_required', 'role_required', 'idempotency_conflict'],
  },
  'moderation.undo_batch': {
    method: 'POST',
    path: '/api/moderation/batches/:id/undo',
    summary: 'Undo the decisions of a batch',
    description:
      'Each decision of the batch that may be undone. A batch that decided nothing, or did nothing ' +
      'but restore notes, has nothing to undo. Undoing a rewind makes its decisions again, as far as no ' +
      'other decision came later and nothing becomes public; a request takes about 500 of them, and ' +
      '`next_cursor` leads to the others.',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    params: z.object({ id: GivenUuid }),
    body: BatchPlace,
    idempotency: 'optional',
    replies: {
      200: {
        headers: REPLAYED_HEADER,
        description: 'A result for each decision of the batch; for a rewind, for each note',
        body: UndoneBatch,
      },
    },
    problems: [
      'invalid_request',
      'moderator_required',
      'role_required',
      'not_found',
      'idempotency_conflict',
      'invalid_cursor',
    ],
  },
});
