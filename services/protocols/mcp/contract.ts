import { z } from 'zod';
import type { RateLimit } from '../../../platform/http/rate-limit.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { Json, PLAIN_NAMES, PlainText } from '../../../platform/http/schemas.ts';
import { SERVER_CARD, SERVER_CARD_TYPE } from '../../discovery/service-links.ts';

/**
 * The revisions that the service agrees to, besides 2026-07-28: those of the SDK without 2025-03-26,
 * whose servers must accept batches. Listed here, because only an MCP request loads the SDK.
 */
export const REVISIONS = ['2025-11-25', '2025-06-18', '2024-11-05', '2024-10-07'];

/** The revision without `initialize`, in which each request names the revision and the client. */
export const STATELESS_REVISION = '2026-07-28';

export const SERVER_TITLE = 'Membership, guestbook and discovery service';

const Name = z.union([PlainText, z.int()]);

const Meta = z.object({ progressToken: Name.optional() }).catchall(Json).meta(PLAIN_NAMES);

const Call = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    id: Name.optional(),
    method: PlainText,
    params: z.object({ _meta: Meta.optional() }).catchall(Json).meta(PLAIN_NAMES).optional(),
  })
  .meta({
    id: 'McpRequest',
    description: 'A request or a notification of the Model Context Protocol',
    examples: [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_cases', arguments: { state: 'open' } },
      },
    ],
  });

const Answer = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([PlainText, z.number()]).optional(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z
      .object({ code: z.int(), message: z.string(), data: z.unknown().optional() })
      .optional(),
  })
  .meta({ id: 'McpReply' });

const answer = (description: string) => ({ description, body: Answer });

export const MCP_REQUESTS = {
  kind: 'mcp-10m',
  window: '10 minutes',
  setting: 'limitMcpRequests',
  per: 'address',
  counts: 'requests of MCP',
} as const satisfies RateLimit;

export const mcpContract = defineContract({
  'mcp.call': {
    method: 'POST',
    path: '/mcp',
    summary: 'The public record over the Model Context Protocol, read only',
    description:
      'Revisions 2026-07-28 and 2025-11-25, stateless, answered in JSON. Anonymous: credentials are ' +
      'neither needed nor read. One message per request; batches are not supported. The same address with a trailing slash works alike.',
    tag: 'agents',
    access: 'public',
    transport: true,
    requestHeaders: {
      'MCP-Protocol-Version': {
        description: 'The revision, where it is said. 2026-07-28 says it in `params._meta` too.',
        schema: { type: 'string', enum: [STATELESS_REVISION, ...REVISIONS] },
      },
      'Mcp-Method': {
        description: 'As `method`: obligatory with 2026-07-28.',
        schema: { type: 'string' },
      },
      'Mcp-Name': {
        description: 'As `params.name` or `params.uri`: obligatory with 2026-07-28.',
        schema: { type: 'string' },
      },
    },
    body: Call,
    limits: [MCP_REQUESTS],
    replies: {
      200: answer('A result, or an error of the protocol'),
      202: { description: 'A notification was taken', empty: true },
      400: answer('No JSON, a batch, or headers that do not fit the message'),
      403: answer('Another Origin or Host than of this service'),
      404: answer('No such method'),
      413: answer('Larger than 64 KiB'),
      415: answer('Not application/json'),
      429: {
        ...answer('Too many requests from this address'),
        headers: { 'Retry-After': 'Seconds to wait' },
      },
      500: answer('Something went wrong here'),
      503: answer('Storage is unavailable'),
    },
    problems: [],
  },
});

/** Only with `MCP_SERVER_CARD=true`. */
export const mcpCardContract = defineContract({
  'mcp.server_card': {
    method: 'GET',
    path: SERVER_CARD,
    summary: 'The MCP server card',
    description:
      'Who the server is, where it listens, and which revisions it speaks (SEP-2127, experimental).',
    tag: 'agents',
    access: 'public',
    unknownQuery: 'ignored',
    replies: {
      200: {
        description: 'The card, in JSON',
        type: SERVER_CARD_TYPE,
        headers: {
          'Access-Control-Allow-Methods': 'GET',
          'Access-Control-Allow-Headers': 'What a page of another origin may send',
        },
      },
    },
    problems: [],
  },
});
