import { z } from 'zod';
import { EXPERIENCES } from '../../domain/guestbook/words.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  AnyUuid,
  Cursor,
  Handle,
  StatusReply,
  Text,
  UnixSeconds,
  Uuid,
} from '../../platform/http/schemas.ts';
import { followupContract } from './followup-contract.ts';
import { GUEST_NOTES_PER_HOUR, NOTES_PER_DAY, NOTES_PER_TEN_MINUTES } from './limits.ts';

const BODY_LIMIT = 8192;

/** Notes on one page. */
export const NOTES_PER_PAGE = 30;

const Experience = z.enum(EXPERIENCES);

const Empty = z.literal('').default('');

const common = {
  id: Uuid,
  message: Text(1, 500),
  website: Empty,
  experience: Experience.default('service'),
  parent_id: Uuid.nullable().default(null),
};

const GuestNote = z
  .strictObject({
    ...common,
    name: Text(0, 40).default(''),
    attribution: z.literal('guest').default('guest'),
  })
  .meta({ id: 'GuestNoteSubmission' });

const MemberNote = z
  .strictObject({
    ...common,
    name: Empty,
    attribution: z.literal('member'),
    member_handle: Handle,
  })
  .meta({ id: 'MemberNoteSubmission' });

/** Only `attribution` selects the shape, so that a validation issue names the invalid field. */
export const NoteSubmission = z.discriminatedUnion('attribution', [GuestNote, MemberNote]).meta({
  id: 'NoteSubmission',
  // OpenAPI requires the discriminator property, but here `guest` is the default.
  override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
    jsonSchema.anyOf = jsonSchema.oneOf;
    delete jsonSchema.oneOf;
    delete jsonSchema.discriminator;
  },
});
export type NoteSubmission = z.output<typeof NoteSubmission>;

const Note = z
  .object({
    id: AnyUuid,
    name: z.string(),
    message: z.string(),
    created_at: UnixSeconds,
    experience: Experience,
    parent_id: AnyUuid.nullable(),
    attribution: z.enum(['guest', 'member']),
    identity: z.enum(['self_described', 'chosen_service_handle']),
    name_verified: z.literal(false),
    network_verified: z.literal(false),
  })
  .meta({ id: 'Note' });
export type Note = z.input<typeof Note>;

const NoteReply = z.object({ status: z.literal('ok'), note: Note }).meta({ id: 'NoteReply' });

const GuestbookPage = z
  .object({
    entries: z.array(Note),
    limit: z.literal(NOTES_PER_PAGE),
    experience: Experience,
    parent_id: AnyUuid.nullable(),
    notice: z.string(),
  })
  .meta({ id: 'GuestbookPage' });

export const guestbookContract = defineContract({
  ...followupContract,
  'guestbook.read': {
    method: 'GET',
    path: '/api/guestbook',
    summary: 'Approved notes, newest approval first',
    description:
      'Top-level notes of an experience, or the replies to one of them. Older ones are behind the Link header.',
    tag: 'guestbook',
    access: 'public',
    query: z.object({
      experience: Experience.default('service'),
      parent_id: Uuid.optional(),
      before: Cursor.optional(),
    }),
    unknownQuery: 'ignored',
    replies: {
      200: {
        description: 'At most 30 notes',
        body: GuestbookPage,
        headers: { Link: 'The next page, with rel="next", where there is one' },
      },
    },
    problems: ['reply_target_missing', 'invalid_cursor'],
    bareProblems: [404, 503],
  },
  'guestbook.get': {
    method: 'GET',
    path: '/api/guestbook/:id',
    summary: 'A public note',
    description: 'Not found unless the note is public, and with it the note that it replies to.',
    tag: 'guestbook',
    access: 'public',
    params: z.object({ id: Uuid }),
    replies: { 200: { description: 'The note', body: NoteReply } },
    problems: ['not_found'],
  },
  'guestbook.submit': {
    method: 'POST',
    path: '/api/guestbook',
    unknownQuery: 'ignored',
    summary: 'Submit a note for review, as a guest or as the member of the current session',
    description:
      'Idempotent by content: resubmitting the same note returns its current status. Accepted does not mean published.',
    tag: 'guestbook',
    access: 'session?',
    origin: 'cookie',
    bodyLimit: BODY_LIMIT,
    body: NoteSubmission,
    limits: [NOTES_PER_TEN_MINUTES, NOTES_PER_DAY, GUEST_NOTES_PER_HOUR],
    replies: {
      200: {
        description: 'Received before: pending_review, published or not_published',
        body: StatusReply,
      },
      202: { description: 'Waits for review: pending_review', body: StatusReply },
    },
    problems: [
      'session_required',
      'submission_conflict',
      'reply_target_unavailable',
      'admission_closed',
    ],
  },
});
