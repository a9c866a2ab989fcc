import { textContent } from '../../platform/http/page-headers.ts';
import type { Content } from '../../platform/http/route.ts';
import { API_CATALOG, SERVICE_LINKS } from '../discovery/service-links.ts';

const TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/** The API catalog (RFC 9727): a set of links (RFC 9264) whose anchors are the catalog and the API. */
export function apiCatalog(baseUrl: string): Content {
  const api = `${baseUrl}/api/v1/discovery`;
  const descriptions = Object.entries(SERVICE_LINKS).map(([relation, links]) => [
    relation,
    links.map(({ path, ...link }) => ({ href: baseUrl + path, ...link })),
  ]);
  const linkset = [
    { anchor: baseUrl + API_CATALOG, item: [{ href: api, type: 'application/json' }] },
    { anchor: api, ...Object.fromEntries(descriptions) },
  ];
  return { ...textContent('', JSON.stringify({ linkset })), type: TYPE };
}
