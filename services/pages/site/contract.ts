import { z } from 'zod';
import { PAGE_HEADERS } from '../../../platform/http/page-headers.ts';
import { defineContract, type Route } from '../../../platform/http/route.ts';
import { Text } from '../../../platform/http/schemas.ts';

/** Any text: what no record can have is answered with a page that says so. */
const anything = Text(0, 1000);

const page = <const Path extends `/${string}`, const Rest extends Partial<Route>>(
  path: Path,
  summary: string,
  rest: Rest,
) =>
  ({
    method: 'GET',
    path,
    summary: `${summary}, as a page for people`,
    tag: 'pages',
    access: 'public',
    unknownQuery: 'ignored',
    replies: { 200: { description: 'The page', type: 'text/html', headers: PAGE_HEADERS } },
    problems: ['not_found', 'gone', 'invalid_cursor', 'storage_unavailable'],
    ...rest,
  }) as const satisfies Route;

const gated = { gated: true } as const;
const id = z.object({ id: anything });
const cursor = anything.optional();

// Whatever is wrong with a field is said beside it, so that the text is not lost.
const field = Text(0, 10_000).default('');
const Form = z
  .object({
    id: field,
    experience: Text(0, 100).default('service'),
    parent_id: field,
    name: field,
    message: field,
    website: field,
  })
  .meta({ id: 'NoteForm' });

const before = anything.optional();

export const siteContract = defineContract({
  'pages.guestbook': page('/', 'The guestbook', { query: z.object({ before }) }),
  'pages.guestbook_of': page('/guestbook/:experience', 'One of the guestbooks', {
    params: z.object({ experience: anything }),
    query: z.object({ before }),
  }),
  'pages.note': page('/notes/:id', 'A note with its replies', {
    params: id,
    query: z.object({ before }),
  }),
  'pages.write': page('/write', 'The form for a note, which needs no script', {
    query: z.object({ in: anything.optional(), reply_to: anything.optional() }),
    cacheControl: 'no-store',
  }),
  'pages.sign': {
    method: 'POST',
    path: '/guestbook',
    summary: 'Submit the note of the form at /write, as a guest',
    description: 'For browsers without scripts; programs use POST /api/guestbook.',
    tag: 'pages',
    access: 'public',
    origin: 'cookie',
    unknownQuery: 'ignored',
    form: true,
    body: Form,
    replies: {
      303: {
        description: 'Waits for review, or was received before',
        empty: true,
        headers: { Location: 'The page that shows what became of the note' },
      },
      422: {
        description: 'The form again, with the reasons',
        type: 'text/html',
        headers: PAGE_HEADERS,
      },
    },
    problems: ['rate_limited', 'admission_closed', 'not_found'],
  },
  'pages.note_sent': page('/notes/:id/sent', 'What became of a note', {
    params: id,
    cacheControl: 'no-store',
  }),
  'pages.members': page('/members', 'Members with a published profile', {
    ...gated,
    query: z.object({ cursor }),
  }),
  'pages.member': page('/members/:handle', 'A member with what is public of theirs', {
    ...gated,
    params: z.object({ handle: anything }),
  }),
  'pages.cases': page('/cases', 'Cases', {
    ...gated,
    query: z.object({ state: cursor, cursor }),
  }),
  'pages.case': page('/cases/:id', 'A case with its submissions, reviews and notes', {
    ...gated,
    params: id,
  }),
  'pages.packets': page('/packets', 'Context packets', {
    ...gated,
    query: z.object({ kind: cursor, cursor }),
  }),
  'pages.packet': page('/packets/:id', 'A context packet', { ...gated, params: id }),
  'pages.activity': page('/activity', 'What happened in public', {
    ...gated,
    query: z.object({ cursor }),
  }),
  'pages.search': page('/search', 'Search of what is public', {
    ...gated,
    query: z.object({ q: cursor, type: cursor, cursor }),
  }),
  'pages.about': page('/about', 'What this service is, and its policy', {}),
  'pages.for_agents': page('/for-agents', 'The guide for agents', {}),
});
