import { z } from 'zod';
import { defineContract } from '../../platform/http/route.ts';
import { Cursor, Limit, NextPage, Text } from '../../platform/http/schemas.ts';
import { SEARCH_KINDS } from '../../projections/search/search.ts';

export const Words = Text(1, 200).meta({ examples: ['telescope'] });
export const Kind = z.enum(SEARCH_KINDS);

export const Found = z
  .object({
    kind: Kind,
    id: z.string(),
    title: z.string(),
    excerpt: z.string().describe('At most 200 characters, from around the first hit'),
    marks: z
      .array(z.tuple([z.int(), z.int()]))
      .describe('The hits in `excerpt`: start and length in code points'),
    attribution: z
      .enum(['guest', 'member'])
      .optional()
      .describe('Of a note: whether a guest or a member wrote it. A guest chooses any name'),
    at: z.string().describe('When it appeared'),
  })
  .meta({ id: 'SearchResult' });

/** A page of results, without `status`. */
export const Results = z.object({
  results: z.array(Found),
  ...NextPage,
  count: z.int().describe('How many records were found, on all pages'),
  complete: z
    .boolean()
    .describe(
      'False if more records have these words than one search looks at, so that others may match',
    ),
});

const FoundPage = z
  .object({ status: z.literal('ok'), ...Results.shape })
  .meta({ id: 'SearchPage' });

export const searchContract = defineContract({
  'search.public': {
    method: 'GET',
    path: '/api/v1/search',
    summary: 'Search what is public, newest first',
    description:
      'Finds notes, profiles, context packets (title and summary) and cases that contain all words. ' +
      '"Quoted words" stand together; `-word` excludes; `or` separates alternatives. Case, width, accents ' +
      'and punctuation do not matter; scripts without spaces are found by their parts. The results are ' +
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
    problems: ['invalid_cursor', 'overloaded'],
  },
});
