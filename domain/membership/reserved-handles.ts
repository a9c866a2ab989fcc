// Names that could pass for the service or its staff, or that denote the absence of a member.
const ROLES = [
  'admin',
  'administrator',
  'anonymous',
  'former_member',
  'guest',
  'member',
  'mod',
  'moderator',
  'null',
  'operator',
  'owner',
  'root',
  'security',
  'service',
  'staff',
  'support',
  'system',
  'undefined',
];

// Names of the service's routes, current and planned. test/contract/reserved-handles.test.ts
// compares them with the route table.
const ROUTES = [
  'a2a',
  'about',
  'activity',
  'agents',
  'api',
  'artifacts',
  'assets',
  'cases',
  'credentials',
  'discovery',
  'docs',
  'feed',
  'guestbook',
  'help',
  'livez',
  'login',
  'logout',
  'mcp',
  'members',
  'membership',
  'metrics',
  'moderation',
  'notes',
  'openapi',
  'packets',
  'policy',
  'profiles',
  'readyz',
  'register',
  'report',
  'reports',
  'search',
  'settings',
  'status',
  'transparency',
  'updates',
  'well_known',
  'write',
];

const RESERVED = new Set([...ROLES, ...ROUTES]);

/** Whether a handle is reserved because it could be mistaken for the service itself. */
export const isReservedHandle = (handle: string): boolean => RESERVED.has(handle);
