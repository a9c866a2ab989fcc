import manifest from '../../../package.json' with { type: 'json' };
import type { Config } from '../../../platform/config.ts';
import { keptText } from '../../../platform/http/page-headers.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { keep } from '../../../platform/keep.ts';
import { SERVER_CARD_TYPE } from '../../discovery/service-links.ts';
import { type mcpCardContract, REVISIONS, SERVER_TITLE, STATELESS_REVISION } from './contract.ts';

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
const DESCRIPTION = 'Read-only public record: approved notes, profiles, packets, cases, activity.';

/** The server card of SEP-2127. It says nothing of tools, which a client lists once it is connected. */
export function serverCard({ baseUrl, sandbox }: Pick<Config, 'baseUrl' | 'sandbox'>) {
  return {
    $schema: SCHEMA,
    name: `${reverseDns(new URL(baseUrl).hostname)}/service`,
    title: SERVER_TITLE,
    // At most 100 characters.
    description: (sandbox ? 'Sandbox, emptied daily. ' : '') + DESCRIPTION,
    version: manifest.version,
    websiteUrl: baseUrl,
    remotes: [
      {
        type: 'streamable-http',
        url: `${baseUrl}/mcp`,
        supportedProtocolVersions: [STATELESS_REVISION, ...REVISIONS],
      },
    ],
  };
}

/** `example.org` is `org.example`; an IP address is no name with levels and keeps its order. */
function reverseDns(hostname: string): string {
  if (/^[\d.]+$|^\[/.test(hostname)) return hostname.replace(/[^\d.a-f]/g, '-');
  return hostname.split('.').toReversed().join('.');
}

/** The specification wants them on the card, not only in the answer to a preflight. */
const CROSS_ORIGIN = {
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
};

export function mcpCardHandlers(config: Parameters<typeof serverCard>[0]) {
  const content = keep(() => ({
    ...keptText(SERVER_CARD_TYPE, JSON.stringify(serverCard(config))),
    // JSON is always in UTF-8.
    type: SERVER_CARD_TYPE,
  }));
  return {
    'mcp.server_card': async () => ({
      status: 200 as const,
      content: content(),
      headers: CROSS_ORIGIN,
    }),
  } satisfies Handlers<typeof mcpCardContract>;
}
