import { z } from 'zod';
import { ARTIFACT_KINDS } from '../../../domain/artifacts/words.ts';
import { EXPERIENCES } from '../../../domain/guestbook/words.ts';
import { RECORD_TYPES } from '../../../domain/publications/words.ts';
import { PAGE_HEADERS } from '../../../platform/http/page-headers.ts';
import { defineContract, type Route } from '../../../platform/http/route.ts';
import { Cursor, Limit, Text } from '../../../platform/http/schemas.ts';
import { ACTIVITY_TYPES } from '../../../projections/activity-entry.ts';
import { SEARCH_KINDS } from '../../../projections/search/search.ts';
import { CASE_STATES } from '../../cases/contract.ts';
import { LINK_TO_DESCRIPTIONS } from '../../discovery/service-links.ts';
import { REPORTS_PER_DAY, REPORTS_PER_TEN_MINUTES } from '../../guestbook/limits.ts';
import { ATOM, JSON_FEED } from './feeds.ts';

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
    problems: ['not_found', 'gone', 'invalid_cursor', 'storage_unavailable', 'overloaded'],
    ...rest,
  }) as const satisfies Route;

const feed = <
  const Path extends `/${string}`,
  const Format extends 'atom' | 'json',
  const Rest extends Partial<Route>,
>(
  path: Path,
  format: Format,
  of: string,
  rest: Rest,
) =>
  ({
    method: 'GET',
    path: `${path}.${format}`,
    summary: `${of}, as ${format === 'atom' ? 'an Atom feed' : 'a JSON Feed'}`,
    tag: 'pages',
    access: 'public',
    unknownQuery: 'ignored',
    replies: { 200: { description: 'The feed', type: format === 'atom' ? ATOM : JSON_FEED } },
    problems: ['not_found', 'gone', 'storage_unavailable'],
    ...rest,
  }) as const satisfies Route;

/** A page that is also served as Markdown. */
const inMarkdown = {
  replies: {
    200: {
      description: 'The page, or its content as Markdown',
      type: 'text/html',
      alternative: 'text/markdown',
      headers: PAGE_HEADERS,
    },
  },
} as const;

/** A page from which a program may start. */
const withLinks = {
  replies: {
    200: { ...inMarkdown.replies[200], headers: { ...PAGE_HEADERS, ...LINK_TO_DESCRIPTIONS } },
  },
} as const;

const gated = { gated: true } as const;
const id = z.object({ id: anything });
const cursor = Cursor.optional();
const state = z.enum(CASE_STATES).optional();
const kind = z.enum(ARTIFACT_KINDS).optional();
/** Empty means all kinds: the default option of the form. */
const type = z.enum(['', ...SEARCH_KINDS]).optional();

// Admits any text: the form comes back with what is wrong beside each field, so that no text is lost.
const field = z.string().default('');
const Form = z
  .strictObject({
    id: field,
    experience: z.string().default('service'),
    parent_id: field,
    name: field,
    message: field,
    website: field,
  })
  .meta({ id: 'NoteForm' });

/** What the form of a report can be about. */
const REPORTABLE = ['note', ...RECORD_TYPES] as const;
const Report = z
  .strictObject({ type: field, id: field, reason: field, details: field, website: field })
  .meta({ id: 'ReportForm' });

const before = Cursor.optional();

const ofGuestbook = { params: z.object({ experience: anything }) };
const ofNote = { params: id };
const ofMember = { ...gated, params: z.object({ handle: anything }) };
const ofCases = { ...gated, query: z.object({ state }) };
const ofPackets = { ...gated, query: z.object({ kind }) };

/** Before the pages, whose paths match these too. */
const feeds = {
  'feeds.guestbook_atom': feed(
    '/guestbook/:experience',
    'atom',
    'Notes of a guestbook',
    ofGuestbook,
  ),
  'feeds.guestbook_json': feed(
    '/guestbook/:experience',
    'json',
    'Notes of a guestbook',
    ofGuestbook,
  ),
  'feeds.note_atom': feed('/notes/:id', 'atom', 'A note and its replies', ofNote),
  'feeds.note_json': feed('/notes/:id', 'json', 'A note and its replies', ofNote),
  'feeds.member_atom': feed('/members/:handle', 'atom', 'What a member published', ofMember),
  'feeds.member_json': feed('/members/:handle', 'json', 'What a member published', ofMember),
  'feeds.cases_atom': feed('/cases', 'atom', 'Cases', ofCases),
  'feeds.cases_json': feed('/cases', 'json', 'Cases', ofCases),
  'feeds.packets_atom': feed('/packets', 'atom', 'Context packets', ofPackets),
  'feeds.packets_json': feed('/packets', 'json', 'Context packets', ofPackets),
  'feeds.activity_atom': feed('/activity', 'atom', 'What happened in public', gated),
  'feeds.activity_json': feed('/activity', 'json', 'What happened in public', gated),
} as const;

export const siteContract = defineContract({
  ...feeds,
  'pages.guestbook': page('/', 'The guestbook', { ...withLinks, query: z.object({ before }) }),
  'pages.guestbook_moved': {
    method: 'GET',
    path: '/guestbook',
    summary: 'The address of the form, which leads to the guestbook',
    tag: 'pages',
    access: 'public',
    unknownQuery: 'ignored',
    cacheControl: 'public, max-age=86400',
    replies: {
      308: {
        description: 'The guestbook is at `/`',
        empty: true,
        headers: { Location: 'The page of the guestbook' },
      },
    },
    problems: [],
  },
  'pages.guestbook_of': page('/guestbook/:experience', 'One of the guestbooks', {
    ...inMarkdown,
    params: z.object({ experience: anything }),
    query: z.object({ before }),
  }),
  'pages.note': page('/notes/:id', 'A note with its replies, the oldest first', {
    ...inMarkdown,
    params: id,
    query: z.object({
      before,
      after: before.describe('The page of replies after this cursor'),
      last: anything.optional().describe('Present for the end of the thread'),
    }),
  }),
  'pages.write': page('/write', 'The form for a note, which needs no script', {
    query: z.object({ in: z.enum(EXPERIENCES).optional(), reply_to: anything.optional() }),
    // Not `no-store`: Back must show the same form, whose id makes sending it again harmless.
    cacheControl: 'private, max-age=0, must-revalidate',
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
        headers: { Location: 'The page that shows the status of the note' },
      },
      422: {
        description: 'The form again, with the reasons',
        type: 'text/html',
        headers: PAGE_HEADERS,
      },
    },
    problems: ['rate_limited', 'admission_closed', 'not_found'],
  },
  'pages.note_sent': page('/notes/:id/sent', 'Status of a submitted note', {
    params: id,
    cacheControl: 'no-store',
  }),
  'pages.report': page('/report', 'The form for a report, which needs no script', {
    query: z.object({ type: z.enum(REPORTABLE).meta({ examples: ['note'] }), id: anything }),
  }),
  'pages.report_send': {
    method: 'POST',
    path: '/report',
    summary: 'Report something public by the form at /report',
    description:
      'A note as a guest or as the member of the session; a profile, packet, case or case note as a member alone. For browsers; programs use POST /api/v1/reports.',
    tag: 'pages',
    access: 'public',
    origin: 'cookie',
    unknownQuery: 'ignored',
    form: true,
    body: Report,
    limits: [REPORTS_PER_TEN_MINUTES, REPORTS_PER_DAY],
    replies: {
      303: {
        description: 'Received',
        empty: true,
        headers: { Location: 'The page that says so' },
      },
      422: {
        description: 'The form again, with the reasons',
        type: 'text/html',
        headers: PAGE_HEADERS,
      },
    },
    problems: ['not_found'],
  },
  'pages.reported': page('/report/sent', 'The answer to a report', {}),
  'pages.members': page('/members', 'Members with a published profile', {
    ...inMarkdown,
    ...gated,
    query: z.object({ cursor }),
  }),
  'pages.member': page('/members/:handle', 'A member with what is public of theirs', {
    ...inMarkdown,
    ...gated,
    params: z.object({ handle: anything }),
  }),
  'pages.cases': page('/cases', 'Cases', {
    ...inMarkdown,
    ...gated,
    query: z.object({ state, cursor }),
  }),
  'pages.case': page('/cases/:id', 'A case with its submissions, reviews and notes', {
    ...inMarkdown,
    ...gated,
    params: id,
  }),
  'pages.packets': page('/packets', 'Context packets', {
    ...inMarkdown,
    ...gated,
    query: z.object({ kind, cursor }),
  }),
  'pages.packet': page('/packets/:id', 'A context packet', {
    ...inMarkdown,
    ...gated,
    params: id,
  }),
  'pages.activity': page('/activity', 'What happened in public', {
    ...gated,
    query: z.object({ type: z.enum(['', ...ACTIVITY_TYPES]).optional(), cursor }),
  }),
  'pages.search': page('/search', 'Search of what is public', {
    ...gated,
    query: z.object({ q: Text(0, 1000).optional(), type, cursor }),
  }),
  'pages.me': page('/me', "One's own account", {}),
  'pages.about': page('/about', 'What this service is, and its policy', inMarkdown),
  'pages.transparency': page('/transparency', 'Decisions of moderators by week', {
    query: z.object({ cursor }),
  }),
  'pages.transparency_csv': {
    method: 'GET',
    path: '/transparency.csv',
    summary: 'Decisions of moderators by week, as CSV',
    description:
      'The weeks of `GET /api/transparency`, one value a line: `week`, `from`, `measure`, ' +
      '`policy` and `value`.',
    tag: 'pages',
    access: 'public',
    unknownQuery: 'ignored',
    query: z.object({ cursor, limit: Limit }),
    replies: {
      200: {
        description: 'The weeks',
        type: 'text/csv',
        headers: { Link: 'The next page, with rel="next", where there is one' },
      },
    },
    problems: ['invalid_cursor', 'storage_unavailable'],
  },
  'pages.for_agents': page('/for-agents', 'The guide for agents', withLinks),
  'pages.developers': page('/developers', 'How to write a program for this service', withLinks),
});
