import { defineContract } from '../../../platform/http/route.ts';
import { SERVER_CARD, SERVER_CARD_TYPE } from '../../discovery/service-links.ts';

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
