import { z } from 'zod';
import { REVIEW_DECISIONS } from '../../domain/cases/words.ts';
import { REPLAYED_HEADER } from '../../platform/http/keyed-call.ts';
import { COMMAND_PROBLEMS } from '../../platform/http/problems.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  AnyUuid,
  Cursor,
  Ids,
  Limit,
  NextPage,
  ReceiptBody,
  Text,
  Timestamp,
  Uuid,
} from '../../platform/http/schemas.ts';
import { WRITES_PER_DAY } from '../../platform/limits/write-budget.ts';
import { consent } from '../publications/publication-kind.ts';

/** How many submissions, reviews and notes a case is returned with; the newest of each. */
export const CASE_HISTORY_LIMIT = 50;

export const CASE_STATES = ['open', 'claimed', 'submitted', 'accepted', 'withdrawn'] as const;

/** What a member is in a case, for `GET /api/v1/me/cases`. */
export const CASE_ROLES = ['author', 'claimant'] as const;

export const Submission = z
  .object({
    id: AnyUuid,
    member_id: AnyUuid,
    summary: z.string().nullable().describe("null once it was erased with its author's account"),
    artifact_id: AnyUuid.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Submission' });

export const Review = z
  .object({
    id: AnyUuid,
    submission_id: AnyUuid,
    member_id: AnyUuid,
    decision: z.enum(REVIEW_DECISIONS),
    binding: z.boolean().describe("The author's review decides; any other one is advice."),
    comment: z.string().nullable().describe("null once it was erased with its author's account"),
    created_at: Timestamp,
  })
  .meta({ id: 'Review' });

export const CaseNote = z
  .object({ id: AnyUuid, member_id: AnyUuid, message: z.string(), created_at: Timestamp })
  .meta({ id: 'NoteOnCase' });

const CaseHolder = z
  .object({ member_id: AnyUuid, lease_expires_at: Timestamp })
  .meta({ id: 'CaseHolder', description: 'The member who has claimed a case, and until when' });

export const Case = z
  .object({
    id: AnyUuid,
    author_id: AnyUuid,
    title: z.string(),
    summary: z.string(),
    objective: z.string(),
    acceptance_criteria: z.array(z.string()),
    artifact_id: AnyUuid.nullable(),
    state: z
      .enum(CASE_STATES)
      .describe('A claimed case whose lease has expired is returned as open.'),
    version: z.int().describe('Increases with each change of the state or the claim.'),
    created_at: Timestamp,
    updated_at: Timestamp.describe('When the version last changed.'),
    claim: CaseHolder.nullable(),
    submission: Submission.nullable().describe(
      'The submission that is under review or was accepted.',
    ),
  })
  .meta({ id: 'Case' });
export type CaseBody = z.input<typeof Case>;

const expected = { expected_version: z.int().min(1).max(2_147_483_647) };

const NewCase = z
  .strictObject({
    title: Text(1, 160),
    summary: Text(1, 2000),
    objective: Text(1, 4000),
    acceptance_criteria: z.array(Text(1, 500)).min(1).max(50),
    artifact_id: Uuid.nullable().default(null),
    ...consent,
  })
  .meta({ id: 'CaseRequest' });

const LeaseRequest = z
  .strictObject({ ...expected, lease_seconds: z.int().min(300).max(86_400).default(3600) })
  .meta({ id: 'LeaseRequest' });

const CaseVersion = z.strictObject(expected).meta({ id: 'CaseVersion' });

const NewSubmission = z
  .strictObject({
    ...expected,
    summary: Text(1, 4000),
    artifact_id: Uuid.nullable().default(null),
    ...consent,
  })
  .meta({ id: 'SubmissionRequest' });

const NewReview = z
  .strictObject({
    ...expected,
    decision: z.enum(REVIEW_DECISIONS),
    comment: Text(1, 2000),
    ...consent,
  })
  .meta({ id: 'ReviewRequest' });

const NewCaseNote = z
  .strictObject({ message: Text(1, 2000), ...consent })
  .meta({ id: 'CaseNoteRequest' });

const CasePage = z
  .object({
    status: z.literal('ok'),
    cases: z.array(Case),
    ...NextPage,
  })
  .meta({ id: 'CasePage' });

const CaseDetails = z
  .object({
    status: z.literal('ok'),
    case: Case,
    submissions: z.array(Submission),
    reviews: z.array(Review),
    notes: z.array(CaseNote),
  })
  .meta({ id: 'CaseDetails' });

const CaseReply = z
  .object({
    status: z
      .enum(['created', 'claimed', 'released', 'submitted', 'reviewed', 'withdrawn', 'noted'])
      .describe('What was done'),
    case: Case,
    receipt: ReceiptBody,
  })
  .meta({ id: 'CaseReply' });

const params = z.object({ case_id: Uuid });

const read = { method: 'GET', tag: 'cases', access: 'public', gated: true } as const;
const write = {
  method: 'POST',
  tag: 'cases',
  idempotency: 'required',
  limits: [WRITES_PER_DAY],
  gated: true,
} as const;

const PROBLEMS = [...COMMAND_PROBLEMS, 'state_conflict'] as const;
const CASE_PROBLEMS = [...PROBLEMS, 'not_found', 'gone'] as const;

const reply = (description: string) => ({ description, body: CaseReply, headers: REPLAYED_HEADER });

/** The reply to a command that created a record; its `Location` is the case. */
const created = (description: string) =>
  ({ ...reply(description), location: '/api/v1/cases/{case.id}' }) as const;

export const casesContract = defineContract({
  'case.list': {
    ...read,
    path: '/api/v1/cases',
    summary: 'Cases, newest first',
    query: z.object({
      ids: Ids,
      state: z.enum(CASE_STATES).optional(),
      author_id: Uuid.optional(),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
    replies: {
      200: {
        description: 'A page of cases',
        body: CasePage,
      },
    },
    problems: ['invalid_cursor'],
  },
  'case.mine': {
    method: 'GET',
    path: '/api/v1/me/cases',
    summary: 'The cases in which the member takes part, the last one first',
    description:
      'Without `role`: all that the member opened, claimed, submitted to, reviewed or noted. Cases that are ' +
      'not public any more are left out, so that a page may have fewer than `limit` although `has_more` is true.',
    tag: 'cases',
    access: 'bearer',
    query: z.object({
      role: z
        .enum(CASE_ROLES)
        .optional()
        .meta({
          description:
            '`author`: opened by the member; `claimant`: claimed by the member, or the submission under review ' +
            "is the member's. The newest case is first.",
        }),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
    replies: { 200: { description: 'A page of cases', body: CasePage } },
    problems: ['invalid_cursor'],
  },
  'case.read': {
    ...read,
    path: '/api/v1/cases/:case_id',
    summary: 'A case with the newest 50 of its submissions, reviews and notes',
    description: "Gone once a moderator took it down, or with its author's account.",
    params,
    replies: {
      200: {
        description: 'The case',
        body: CaseDetails,
      },
    },
    problems: ['not_found', 'gone'],
  },
  'case.create': {
    ...write,
    path: '/api/v1/cases',
    summary: 'Open a case',
    access: { scope: 'case:create' },
    body: NewCase,
    replies: { 201: created('Opened') },
    problems: PROBLEMS,
  },
  'case.claim': {
    ...write,
    path: '/api/v1/cases/:case_id/claim',
    summary: 'Claim an open case, or extend the lease of one that you have claimed',
    description: 'An extension never makes the lease shorter.',
    access: { scope: 'case:claim' },
    params,
    body: LeaseRequest,
    replies: { 200: reply('Claimed') },
    problems: CASE_PROBLEMS,
  },
  'case.release': {
    ...write,
    path: '/api/v1/cases/:case_id/release',
    summary: 'Release a claimed case',
    access: { scope: 'case:claim' },
    params,
    body: CaseVersion,
    replies: { 200: reply('Open again') },
    problems: CASE_PROBLEMS,
  },
  'case.submit': {
    ...write,
    path: '/api/v1/cases/:case_id/submissions',
    summary: 'Submit work to a case that you have claimed',
    access: { scope: 'case:submit' },
    params,
    body: NewSubmission,
    replies: { 201: created('Under review') },
    problems: CASE_PROBLEMS,
  },
  'case.review': {
    ...write,
    path: '/api/v1/cases/:case_id/reviews',
    summary: 'Review a submission',
    description:
      "The author's review decides: accepted; claimed again with a fresh lease; or open. Any other " +
      "member's, but the submitter's, is advice and changes nothing.",
    access: { scope: 'case:review' },
    params,
    body: NewReview,
    replies: { 201: created('Reviewed') },
    problems: CASE_PROBLEMS,
  },
  'case.withdraw': {
    ...write,
    path: '/api/v1/cases/:case_id/withdraw',
    summary: 'Withdraw an open case of your own',
    description: 'It can still be read.',
    access: { scope: 'case:create' },
    params,
    body: CaseVersion,
    replies: { 200: reply('Withdrawn') },
    problems: CASE_PROBLEMS,
  },
  'case.note': {
    ...write,
    path: '/api/v1/cases/:case_id/notes',
    summary: 'Add a note to a case that is not withdrawn',
    access: { scope: 'case:note' },
    params,
    body: NewCaseNote,
    replies: { 201: created('Noted') },
    problems: CASE_PROBLEMS,
  },
});
