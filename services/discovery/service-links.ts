/** Links from the service to what describes it, by relation (RFC 8631, RFC 9727). */
export const SERVICE_LINKS = {
  'service-desc': [
    { path: '/openapi.json', type: 'application/json', title: 'OpenAPI 3.1' },
    { path: '/openapi-3.0.json', type: 'application/json', title: 'OpenAPI 3.0' },
    {
      path: '/openapi-agents.json',
      type: 'application/json',
      title: 'OpenAPI 3.1: the operations of agents',
    },
  ],
  'service-doc': [
    { path: '/developers', type: 'text/html', title: 'For developers' },
    { path: '/docs', type: 'text/html', title: 'API reference' },
    { path: '/for-agents.md', type: 'text/markdown', title: 'For agents' },
  ],
  status: [{ path: '/api/v1/status', type: 'application/json', title: 'Status' }],
} as const;

export const API_CATALOG = '/.well-known/api-catalog';

/** The MCP server card, at the path that SEP-2127 reserves below the address of the server. */
export const SERVER_CARD = '/mcp/server-card';
export const SERVER_CARD_TYPE = 'application/mcp-server-card+json';

/** `Link` of the documents from which a program may start: one link for each relation. */
export const SERVICE_LINK_HEADER = [
  ...Object.entries(SERVICE_LINKS).map(
    ([relation, [{ path, type }]]) => `<${path}>; rel="${relation}"; type="${type}"`,
  ),
  `<${API_CATALOG}>; rel="api-catalog"; type="application/linkset+json"`,
].join(', ');

/** Description of the header for the OpenAPI document. */
export const LINK_TO_DESCRIPTIONS = {
  Link: 'Where the service is described: `service-desc`, `service-doc`, `status`, `api-catalog`',
};
