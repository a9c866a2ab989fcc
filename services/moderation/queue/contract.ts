import { z } from 'zod';
import { EXPERIENCES, REPORT_REASONS } from '../../../domain/guestbook/words.ts';
import { CLAIMERS, READERS } from '../../../domain/moderation/roles.ts';
import { SUBJECT_TYPES } from '../../../domain/moderation/subject.ts';
import { AUTHOR_RECORDS, SCRIPTS, VIEWS } from '../../../domain/moderation/words.ts';
import { FINDING_CODES } from '../../../domain/screening/rules.ts';
import { REPLAYED_HEADER } from '../../../platform/http/keyed-call.ts';
import { defineContract } from '../../../platform/http/route.ts';
import {
  AnyUuid,
  asInteger,
  Cursor,
  FilterText,
  GivenUuid,
  Limit,
  NextPage,
  UnixSeconds,
  Uuid,
} from '../../../platform/http/schemas.ts';
import { PolicyCode } from '../policies/contract.ts';
import { RankedModerator } from '../staff/contract.ts';
import { TakeOver } from './item.ts';
import { CLAIM_VIEWS, DECIDED_STATES, SORTS } from './queue.ts';
import { QueueItem } from './record-item.ts';

/** The most leases that a moderator can hold at the same time. */
export const MAX_LEASES = 10;

/** A query parameter in whole seconds. */
const Seconds = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number of seconds')
  .transform(Number)
  .meta(asInteger({ minimum: 0, maximum: 999_999_999 }));

const ITEM = '(?:[a-z_]{1,20}/)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ITEMS = `^${ITEM}(?:,${ITEM}){0,49}$`;

/** Ids of notes, and records as `type/id`. */
const SelectedItems = z
  .string()
  .regex(new RegExp(ITEMS), 'must be 1 to 50 note ids or type/id of records, separated by commas')
  .transform((list) => list.split(','))
  .meta({
    override: { type: 'string', pattern: ITEMS },
    description:
      'Only these items, if they are in the view and fit the filters: 1 to 50 note ids, or ' +
      '`type/id` of records, separated by commas',
  });

/** Filters that name no item and no author. */
export const LASTING_FILTERS = {
  q: FilterText(200)
    .describe("Stands in the text or in its author's name, in any case and however it is composed")
    .optional(),
  finding: z.enum(FINDING_CODES).describe('Only notes with this finding').optional(),
  experience: z.enum(EXPERIENCES).describe('Only notes of this guestbook').optional(),
  reason: z.enum(REPORT_REASONS).describe('An open report has this reason').optional(),
  type: z.enum(SUBJECT_TYPES).describe('Only items of this kind').optional(),
  policy: PolicyCode.describe('Rejected or removed under this policy').optional(),
  decided_by: GivenUuid.describe('Decided by this moderator').optional(),
  state: z.enum(DECIDED_STATES).describe('Only items that were decided so').optional(),
  script: z
    .enum(SCRIPTS)
    .describe('Only notes whose beginning is mostly in this script')
    .optional(),
  author_record: z
    .enum(AUTHOR_RECORDS)
    .describe(
      'Only notes of these authors: guests; members without an approved note (`new`), without a ' +
        'refused one (`clean`) and with one (`mixed`) among their 20 newest decided notes',
    )
    .optional(),
  sort: z.enum(SORTS).describe("The order, if not the view's").optional(),
};

const Lease = z
  .object({
    lease_id: AnyUuid,
    note_id: AnyUuid.nullable().meta({ description: 'Null where what is held is no note' }),
    subject: z.object({ type: z.enum(SUBJECT_TYPES), id: AnyUuid }),
    expires_at: UnixSeconds,
  })
  .meta({ id: 'Lease' });

const LeaseSelection = z
  .strictObject({ lease_ids: z.array(GivenUuid).min(1).max(100) })
  .meta({ id: 'LeaseSelection' });

const NextItems = z
  .strictObject({
    count: z.int().min(1).max(MAX_LEASES),
    view: z.enum(CLAIM_VIEWS).optional(),
  })
  .meta({ id: 'NextItems' });

const NoteSelection = z
  .strictObject({ note_ids: z.array(Uuid).min(1).max(100), take_over: TakeOver })
  .meta({ id: 'NoteSelection' });

const SubjectSelection = z
  .strictObject({
    subjects: z
      .array(z.strictObject({ type: z.enum(SUBJECT_TYPES), id: Uuid }))
      .min(1)
      .max(100),
    take_over: TakeOver,
  })
  .meta({ id: 'SubjectSelection' });

export const ClaimRequest = z
  .union([NextItems, NoteSelection, SubjectSelection], {
    error: 'must have either count (1 to 10), note_ids or subjects',
  })
  .meta({ id: 'ClaimSelection' });
export type ClaimRequest = z.output<typeof ClaimRequest>;

const Status = z.literal('ok');

const ModeratorReply = z
  .object({ status: Status, moderator: RankedModerator, leases: z.array(Lease) })
  .meta({ id: 'ModeratorReply' });

const QueuePage = z
  .object({
    status: Status,
    items: z.array(QueueItem),
    ...NextPage,
    counts: z.object({
      todo: z.int(),
      mine: z.int(),
      escalated: z.int(),
      deferred: z.int(),
      reported: z.int(),
      appeals: z
        .int()
        .describe(
          'Open appeals that the caller may answer: none against a decision of their own. ' +
            'An auditor sees the number of all.',
        ),
    }),
  })
  .meta({ id: 'QueuePage' });

const ClaimsReply = z
  .object({
    status: Status,
    claims: z.array(Lease.extend({ item: QueueItem }).meta({ id: 'ClaimedItem' })),
  })
  .meta({ id: 'ClaimsReply' });

const RenewalReply = z
  .object({ status: Status, renewed: z.array(AnyUuid), lost: z.array(AnyUuid) })
  .meta({ id: 'RenewalReply' });

const ReleaseReply = z
  .object({ status: Status, released: z.array(AnyUuid) })
  .meta({ id: 'ReleaseReply' });

export const queueContract = defineContract({
  'moderation.me': {
    method: 'GET',
    path: '/api/moderation/me',
    summary: 'The moderator that the token proves, with the leases held',
    tag: 'moderation',
    access: { roles: READERS },
    replies: {
      200: {
        description: 'The moderator',
        body: ModeratorReply,
      },
    },
    problems: ['moderator_required'],
  },
  'moderation.queue': {
    method: 'GET',
    path: '/api/moderation/queue',
    summary: 'A view of the queue, oldest first; what was decided, newest first',
    description:
      "todo: what waits and is due (a lead's begins with what was escalated, which the others find under escalated); with q everything that waits, escalated and deferred notes included; mine: what the caller holds; deferred: what waits for its time, by the end of its deferral; reported: notes, and other records, which say what they are in `subject`. With a filter one page looks at two thousand notes at most: it may hold few or none, and the next page goes on from there.",
    tag: 'moderation',
    access: { roles: READERS },
    query: z.object({
      view: z.enum(VIEWS).default('todo'),
      ...LASTING_FILTERS,
      older_than: Seconds.optional(),
      author: FilterText(100).optional(),
      same_address_as: GivenUuid.optional().describe(
        "A guest's note: only notes that guests sent from the same address (of IPv6: the same /48) " +
          'as this one in the last 48 hours, the newest 1000',
      ),
      like: GivenUuid.optional().describe(
        "A guest's note: only notes of guests that have its text, or nearly, the newest 1000",
      ),
      only: SelectedItems.optional(),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
    replies: {
      200: {
        description:
          'A page of the view. Counts beyond 1000 may be five seconds old, and are ' +
          'at least so many where there are too many to count',
        body: QueuePage,
      },
    },
    problems: ['moderator_required', 'invalid_cursor'],
  },
  'moderation.claim': {
    method: 'POST',
    path: '/api/moderation/claims',
    summary: 'Claim the next items, or notes and records by their ids, for five minutes',
    description:
      'All or none. No claims: the queue is clear, and no receipt is stored, so the same key can be ' +
      'used again. At most ten leases at a time, and 30 minutes for one ' +
      'item, however often it is claimed; then not again for an hour. A public item is claimed by ' +
      'those who can decide on it. A lead takes over items of others with `take_over`.',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    body: ClaimRequest,
    idempotency: 'optional',
    replies: {
      200: {
        headers: REPLAYED_HEADER,
        description: 'The leases',
        body: ClaimsReply,
      },
    },
    problems: [
      'moderator_required',
      'role_required',
      'not_found',
      'state_conflict',
      'idempotency_conflict',
    ],
  },
  'moderation.renew': {
    method: 'POST',
    path: '/api/moderation/claims/renew',
    summary: 'Renew leases for five minutes, up to thirty in total',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    body: LeaseSelection,
    idempotency: 'optional',
    replies: {
      200: {
        headers: REPLAYED_HEADER,
        description: 'Which leases are renewed and which are lost',
        body: RenewalReply,
      },
    },
    problems: ['moderator_required', 'role_required', 'idempotency_conflict'],
  },
  'moderation.release': {
    method: 'POST',
    path: '/api/moderation/claims/release',
    summary: 'Release claimed notes and records',
    tag: 'moderation',
    access: { roles: CLAIMERS },
    body: LeaseSelection,
    idempotency: 'optional',
    replies: {
      200: {
        headers: REPLAYED_HEADER,
        description: 'These leases are released',
        body: ReleaseReply,
      },
    },
    problems: ['moderator_required', 'role_required', 'idempotency_conflict'],
  },
});
