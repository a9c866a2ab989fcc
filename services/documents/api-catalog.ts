import type { Config } from '../../platform/config.ts';
import { textContent } from '../../platform/http/page-headers.ts';
import type { Content } from '../../platform/http/route.ts';
import {
  API_CATALOG,
  SERVER_CARD,
  SERVER_CARD_TYPE,
  SERVICE_LINKS,
} from '../discovery/service-links.ts';

const TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/**
 * The API catalog (RFC 9727): a set of links (RFC 9264) whose anchors are the catalog, the API, and the MCP server where
 * it has a card.
 */
export function apiCatalog({
  baseUrl,
  mcpServerCard,
}: Pick<Config, 'baseUrl' | 'mcpServerCard'>): Content {
  const api = `${baseUrl}/api/v1/discovery`;
  const descriptions = Object.entries(SERVICE_LINKS).map(([relation, links]) => [
    relation,
    links.map(({ path, ...link }) => ({ href: baseUrl + path, ...link })),
  ]);
  const mcp = `${baseUrl}/mcp`;
  const card = { href: baseUrl + SERVER_CARD, type: SERVER_CARD_TYPE, title: 'MCP server card' };
  const linkset = [
    {
      anchor: baseUrl + API_CATALOG,
      item: [
        { href: api, type: 'application/json' },
        ...(mcpServerCard ? [{ href: mcp, type: 'application/json' }] : []),
      ],
    },
    { anchor: api, ...Object.fromEntries(descriptions) },
    ...(mcpServerCard ? [{ anchor: mcp, 'service-meta': [card] }] : []),
  ];
  return { ...textContent('', JSON.stringify({ linkset })), type: TYPE };
}
