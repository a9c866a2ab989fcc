import { ROLES, SCOPES, type Scope } from '../../domain/permissions.ts';
import {
  type Agent,
  bootstrap,
  newAgent,
  newCredential,
  toAuthorization,
} from '../../harness/agent.ts';
import { readCookie } from '../../harness/api.ts';
import { addModerator } from '../../harness/moderation.ts';
import type { Operation } from '../../platform/http/invoke.ts';
import { revokeModerator } from '../../services/moderation/staff/moderators.ts';
import type { Service } from './service.ts';

/** A kind of caller: what it sends, and what that proves. */
export interface Caller {
  name: string;
  headers: Record<string, string>;
  session?: true;
  role?: (typeof ROLES)[number];
  scopes?: readonly Scope[];
}

/** One caller of each kind, from anonymous to a lead, former ones included. */
export const createCallers = async (service: Service): Promise<Caller[]> => [
  { name: 'anonymous', headers: {} },
  { name: 'another scheme', headers: { authorization: 'Basic YTpi' } },
  ...(await createMembers(service)),
  ...(await createModerators(service)),
];

/** The refusals that say who may call. */
export const DENIALS = [
  'session_required',
  'moderator_required',
  'role_required',
  'credential_required',
  'credential_not_accepted',
  'scope_required',
];

const login = async ({ call }: Service, { id, sign_in_key }: Agent) =>
  readCookie(await call('POST', '/api/membership/login', { body: { id, sign_in_key } }));

async function signIn({ call }: Service, token: string) {
  return readCookie(await call('POST', '/api/moderation/session', { body: { token } }));
}

async function createMembers(service: Service): Promise<Caller[]> {
  const agent = await newAgent(service);
  const revoked = newCredential();
  await bootstrap(service, agent, revoked);
  const { credential_id } = revoked;
  await agent.call('POST', '/api/v1/me/credentials/revoke', { credential_id });
  const gone = await newAgent(service);
  const goneCookie = await login(service, gone);
  const deletion = { confirm_handle: gone.handle, erase_notes: true };
  const deleted = await gone.call('POST', '/api/v1/me/delete', deletion);
  if (deleted.status !== 200) throw new Error(deleted.text);
  const { authorization } = agent;
  const scoped: Caller[] = [];
  for (const scope of SCOPES) {
    const headers = { authorization: (await newAgent(service, [scope])).authorization };
    scoped.push({ name: `the scope ${scope}`, headers, scopes: [scope] });
  }
  return [
    { name: 'a session', headers: { cookie: await login(service, agent) }, session: true },
    {
      name: 'a session and a credential',
      headers: { cookie: await login(service, agent), authorization },
      session: true,
      scopes: SCOPES,
    },
    { name: 'every scope', headers: { authorization }, scopes: SCOPES },
    ...scoped,
    { name: 'a revoked credential', headers: { authorization: toAuthorization(revoked) } },
    { name: "a former member's credential", headers: { authorization: gone.authorization } },
    { name: "a former member's session", headers: { cookie: goneCookie } },
    {
      name: "a member's cookie as a moderator's",
      headers: {
        cookie: (await login(service, agent)).replace(/^[^=]+/, '__Host-ServiceModerator'),
      },
    },
    {
      name: 'a credential as the token of a moderator',
      headers: { authorization: authorization.replace('svc_', 'mod_') },
    },
  ];
}

async function createModerators(service: Service): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const role of ROLES) {
    const { token } = await addModerator(service, role, role);
    const cookie = await signIn(service, token);
    callers.push(
      { name: `the token of a ${role}`, headers: { authorization: `Bearer ${token}` }, role },
      { name: `the session of a ${role}`, headers: { cookie }, role },
    );
  }
  const { id, token } = await addModerator(service, 'former', 'lead');
  const cookie = await signIn(service, token);
  await revokeModerator(service.core, id);
  return [
    ...callers,
    { name: "a former lead's token", headers: { authorization: `Bearer ${token}` } },
    { name: "a former lead's session", headers: { cookie } },
    {
      name: 'the token of a moderator as a credential',
      headers: { authorization: `Bearer ${token.replace('mod_', 'svc_')}` },
    },
    {
      name: "a moderator's cookie as a member's",
      headers: { cookie: cookie.replace(/^[^=]+/, '__Host-ServiceSession') },
    },
  ];
}

/** The refusal that the access of a route means for a caller; null if it admits the caller. */
export function expectedDenial({ route }: Operation, caller: Caller): string | null {
  const { access } = route;
  if (access === 'public' || access === 'session?') return null;
  if (access === 'session') return caller.session ? null : 'session_required';
  if (typeof access === 'object' && 'roles' in access) {
    if (!caller.role) return 'moderator_required';
    return access.roles.includes(caller.role) ? null : 'role_required';
  }
  if (!caller.scopes)
    return caller.headers.authorization ? 'credential_not_accepted' : 'credential_required';
  if (access === 'bearer') return null;
  if (typeof access !== 'object' || !('scope' in access)) throw new Error('a route without access');
  return caller.scopes.includes(access.scope) ? null : 'scope_required';
}
