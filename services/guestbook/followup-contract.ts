import { z } from 'zod';
import { EXPERIENCES, REPORT_REASONS } from '../../domain/guestbook/words.ts';
import { REPLAYED_HEADER } from '../../platform/http/keyed-call.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  AnyUuid,
  Cursor,
  EmptyBody,
  Limit,
  NextPage,
  StatusReply,
  Text,
  Timestamp,
  Uuid,
} from '../../platform/http/schemas.ts';
import {
  NOTES_PER_DAY,
  NOTES_PER_TEN_MINUTES,
  REPORTS_PER_DAY,
  REPORTS_PER_TEN_MINUTES,
} from './limits.ts';

const BODY_LIMIT = 8192;
const params = z.object({ id: Uuid });

const NewNoteReport = z
  .strictObject({ reason: z.enum(REPORT_REASONS), details: Text(0, 1000).optional() })
  .meta({ id: 'NoteReportRequest' });

const Correction = z.strictObject({ message: Text(1, 500) }).meta({ id: 'CorrectionRequest' });

const CorrectedNote = z
  .object({
    status: z.literal('pending_review'),
    id: AnyUuid,
    version: z.int().describe('The version of the note with this text'),
  })
  .meta({ id: 'CorrectedNote' });

const NewAppeal = z.strictObject({ text: Text(1, 500) }).meta({ id: 'AppealRequest' });

const NoteOutcome = z
  .object({
    status: z.enum(['pending_review', 'published', 'not_published']),
    id: AnyUuid,
    outcome: z
      .enum(['approved', 'rejected', 'removed', 'restored', 'granted', 'withdrawn'])
      .nullable(),
    policy: z.string().nullable(),
    message: z.string().nullable(),
    appeal_until: Timestamp.nullable().describe('The end of the time to appeal; null without one'),
  })
  .meta({ id: 'NoteOutcome' });

/** The state of a note, for its author. */
export const NoteState = z.enum(['pending', 'approved', 'rejected', 'removed', 'withdrawn']);

const OwnNote = z
  .object({
    id: AnyUuid,
    experience: z.enum(EXPERIENCES),
    parent_id: AnyUuid.nullable(),
    message: z.string().nullable().describe('The text; null once it was erased'),
    state: NoteState.describe(
      'A rejection reads as pending until its moderator can no longer undo it',
    ),
    outcome: NoteOutcome,
    appeal: z
      .enum(['open', 'upheld'])
      .nullable()
      .describe('The appeal against the decision in force; null without one'),
    actions: z
      .array(z.enum(['correct', 'withdraw', 'appeal']))
      .describe('What the author may do now, by the operations of these names'),
    submitted_at: Timestamp,
    approved_at: Timestamp.nullable().describe('The first approval; null before it'),
  })
  .meta({ id: 'OwnNote' });

const OwnNotesPage = z
  .object({ status: z.literal('ok'), notes: z.array(OwnNote), ...NextPage })
  .meta({ id: 'OwnNotesPage' });

/** Operations on a submitted note, by its author and its readers. */
export const followupContract = defineContract({
  'guestbook.own_notes': {
    method: 'GET',
    path: '/api/membership/notes',
    summary: "The member's notes with their outcomes, newest first",
    description:
      'From every device: what waits, what is public, why something is not, and what may be done.',
    tag: 'guestbook',
    access: 'session',
    query: z.object({ cursor: Cursor.optional(), limit: Limit }),
    replies: { 200: { description: 'A page', body: OwnNotesPage } },
    problems: ['session_required', 'invalid_request', 'invalid_cursor'],
  },
  'guestbook.report': {
    method: 'POST',
    path: '/api/guestbook/:id/report',
    summary: 'Report a public note to the moderators',
    description:
      'As the member of the session where there is one, else as a guest; refused where that session ends meanwhile. A second report of the same note changes nothing; a key is kept for a member alone.',
    tag: 'guestbook',
    access: 'session?',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    idempotency: 'optional',
    params,
    body: NewNoteReport,
    limits: [REPORTS_PER_TEN_MINUTES, REPORTS_PER_DAY],
    replies: {
      202: { description: 'Received: received', body: StatusReply, headers: REPLAYED_HEADER },
    },
    problems: ['session_required', 'not_found', 'idempotency_conflict'],
  },
  'guestbook.correct': {
    method: 'POST',
    path: '/api/guestbook/:id/correct',
    summary: 'Replace the text of your own note while it waits for review',
    description:
      'At most 5 times, and not while a moderator reads it (409 `state_conflict`, reason `under_review`). The former text is erased; the note keeps its place in the queue and is screened again. Counts like a new note.',
    tag: 'guestbook',
    access: 'session',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    idempotency: 'optional',
    params,
    body: Correction,
    limits: [NOTES_PER_TEN_MINUTES, NOTES_PER_DAY],
    replies: {
      200: {
        description: 'The text was replaced: pending_review',
        body: CorrectedNote,
        headers: REPLAYED_HEADER,
      },
    },
    problems: ['session_required', 'not_found', 'state_conflict', 'idempotency_conflict'],
  },
  'guestbook.withdraw': {
    method: 'POST',
    path: '/api/guestbook/:id/withdraw',
    summary: 'Withdraw your own note permanently',
    tag: 'guestbook',
    access: 'session',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    idempotency: 'optional',
    params,
    body: EmptyBody,
    replies: {
      200: {
        description: 'The note was withdrawn: withdrawn',
        body: StatusReply,
        headers: REPLAYED_HEADER,
      },
    },
    problems: ['session_required', 'not_found', 'state_conflict', 'idempotency_conflict'],
  },
  'guestbook.appeal': {
    method: 'POST',
    path: '/api/guestbook/:id/appeal',
    summary: 'Appeal against the rejection or removal of your own note',
    description: 'Once for each decision, within 14 days of the notification.',
    tag: 'guestbook',
    access: 'session',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    idempotency: 'optional',
    params,
    body: NewAppeal,
    replies: {
      202: {
        description: 'Waits for a moderator: appeal_opened',
        body: StatusReply,
        headers: REPLAYED_HEADER,
      },
    },
    problems: ['session_required', 'not_found', 'state_conflict', 'idempotency_conflict'],
  },
  'guestbook.outcome': {
    method: 'GET',
    path: '/api/guestbook/:id/outcome',
    summary: "The outcome of your own note, with the moderator's message",
    description:
      "The feed tells that a note was rejected or removed and under which policy; the moderator's words are read here, once the decision can no longer be undone by the moderator who made it.",
    tag: 'guestbook',
    access: 'session',
    params,
    replies: {
      200: {
        description: 'The outcome',
        body: NoteOutcome,
      },
    },
    problems: ['session_required', 'not_found'],
  },
});
