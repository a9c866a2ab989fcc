import type { Config } from '../../platform/config.ts';
import { isDisabled, isMutation, type Route, type Routes } from '../../platform/http/route.ts';
import { SERVER_CARD } from './service-links.ts';

export type InventoryConfig = Pick<
  Config,
  | 'limitGuestNotesPerHour'
  | 'sandbox'
  | 'sandboxEmptiedAt'
  | 'limitRegistrationsPerHour'
  | 'a2aEnabled'
  | 'apiOpen'
  | 'baseUrl'
  | 'guestbookOpen'
  | 'membershipOpen'
>;

type State = 'available' | 'disabled' | 'planned';

export interface Capability {
  id: string;
  state: State;
  method?: string;
  path?: string;
  contract?: string;
}

/** Entry points for clients, by name. */
const INTERFACES: Readonly<Record<string, string>> = {
  pages: '/',
  guestbook: '/api/guestbook',
  membership: '/api/membership/me',
  discovery: '/api/v1/discovery',
  status: '/api/v1/status',
  credentials: '/api/v1/credentials',
  updates: '/api/v1/updates',
  agents: '/api/v1/agents',
  artifacts: '/api/v1/artifacts',
  cases: '/api/v1/cases',
  activity: '/api/v1/activity',
  search: '/api/v1/search',
  transparency: '/api/transparency',
  openapi: '/openapi.json',
  openapi_3_0: '/openapi-3.0.json',
  openapi_agents: '/openapi-agents.json',
  api_catalog: '/.well-known/api-catalog',
  developers: '/developers',
  for_agents: '/for-agents.md',
  llms: '/llms.txt',
  llms_full: '/llms-full.txt',
  policy: '/policy.json',
  reference: '/docs',
  a2a: '/a2a',
  agent_card: '/.well-known/agent-card.json',
  mcp: '/mcp',
  mcp_server_card: SERVER_CARD,
};

/** Protocol endpoints. They are listed even if disabled and thus missing from the route table. */
const PROTOCOLS = [
  { id: 'a2a', method: 'POST', path: '/a2a' },
  { id: 'a2a.card', method: 'GET', path: '/.well-known/agent-card.json' },
  { id: 'mcp', method: 'POST', path: '/mcp' },
] as const;

/** Tags listed as one capability each: they serve operators, and OpenAPI lists each operation. */
const AS_ONE = ['moderation', 'operations'];

// Documents and pages are listed among the interfaces.
const LISTED_ELSEWHERE = ['documents', 'pages'];

const A2A_PATHS = ['/a2a', '/.well-known/agent-card.json'];

/** The URL of every interface in the route table, by name. */
export function listInterfaces(routes: readonly Routes[], baseUrl: string) {
  const paths = new Set<string>(rowsOf(routes).map(([, { path }]) => path));
  return Object.fromEntries(
    Object.entries(INTERFACES)
      .filter(([, path]) => paths.has(path))
      .map(([name, path]) => [name, `${baseUrl}${path}`]),
  );
}

/** The state of every operation, by `operationId`, of the protocols and of the grouped tags. */
export function listCapabilities(routes: readonly Routes[], config: InventoryConfig): Capability[] {
  const rows = rowsOf(routes);
  const contract = `${config.baseUrl}/openapi.json`;
  const operations = rows
    .filter(([, { tag }]) => !AS_ONE.includes(tag) && !LISTED_ELSEWHERE.includes(tag))
    .filter(([, { path }]) => !PROTOCOLS.some((known) => known.path === path))
    .map(([id, route]) => ({
      id,
      state: stateOf(route, config),
      method: route.method,
      path: route.path.replace(/:([a-z_]+)/g, '{$1}'),
      contract,
    }));
  const protocols = PROTOCOLS.map(({ id, method, path }) => {
    const off = A2A_PATHS.includes(path) && !config.a2aEnabled;
    return off
      ? { id, state: 'disabled' as const, method, path }
      : { id, state: 'available' as const, method, path, contract };
  });
  const groups = AS_ONE.filter((group) => rows.some(([, { tag }]) => tag === group));
  return [
    ...operations,
    ...protocols,
    ...groups.map((id) => ({ id, state: 'available' as const })),
  ];
}

function rowsOf(routes: readonly Routes[]): [string, Route][] {
  return routes.flatMap(({ contract }) => Object.entries(contract));
}

/** Applies the configuration switches that the route's handler or `authorise` checks. */
function stateOf(route: Route, config: InventoryConfig): State {
  const on =
    !isDisabled(route, config) &&
    (route.path !== '/api/membership/register' || config.membershipOpen) &&
    (route.path !== '/api/guestbook' || !isMutation(route) || config.guestbookOpen);
  return on ? 'available' : 'disabled';
}
