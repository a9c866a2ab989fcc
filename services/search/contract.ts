import { z } from 'zod';
import { defineContract } from '../../platform/http/route.ts';
import { Cursor, Limit, Text } from '../../platform/http/schemas.ts';
import { SEARCH_KINDS } from '../../projections/search/search.ts';

export const Words = Text(1, 200).meta({ examples: ['telescope'] });
export const Kind = z.enum(SEARCH_KINDS);

export const Found = z
  .object({
    kind: Kind,
    id: z.string(),
    title: z.string(),
    excerpt: z.string().describe('The first 200 characters'),
    at: z.string().describe('When it appeared'),
  })
  .meta({ id: 'SearchResult' });

const FoundPage = z
  .object({
    status: z.literal('ok'),
    results: z.array(Found),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'SearchPage' });

export const searchContract = defineContract({
  'search.public': {
    method: 'GET',
    path: '/api/v1/search',
    summary: 'Search what is public, newest first',
    description:
      'Finds notes, profiles, context packets (title and summary) and cases that contain all words. ' +
      '"Quoted words" stand together; `-word` excludes; `or` separates alternatives. The results are ' +
      'those of the MCP tool `search_public`.',
    tag: 'search',
    access: 'public',
    gated: true,
    query: z.object({
      q: Words,
      type: Kind.optional(),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
    replies: { 200: { description: 'A page of results', body: FoundPage } },
    problems: ['invalid_cursor'],
  },
});
