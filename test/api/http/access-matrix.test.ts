import { randomUUID } from 'node:crypto';
import t from 'tap';
import {
  type Agent,
  bootstrap,
  newAgent,
  newCredential,
  toAuthorization,
} from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator } from '../../../harness/moderation.ts';
import type { Operation } from '../../../platform/http/invoke.ts';
import { fillPath, isForModerators } from '../../../platform/http/route.ts';
import { SCOPES, type Scope } from '../../../platform/http/scopes.ts';
import { revokeModerator } from '../../../services/moderation/staff/moderators.ts';
import { ROLES } from '../../../services/moderation/staff/roles.ts';
import { mapConcurrently } from '../../../workers/map-concurrently.ts';
import { type Service, startService } from '../../support/service.ts';

/** A kind of caller: what it sends, and what that proves. */
interface Caller {
  name: string;
  headers: Record<string, string>;
  session?: true;
  role?: (typeof ROLES)[number];
  scopes?: readonly Scope[];
}

/** The refusals that say who may call. */
const DENIALS = [
  'session_required',
  'moderator_required',
  'role_required',
  'credential_required',
  'credential_not_accepted',
  'scope_required',
];

/** Speak another protocol, which has tests for its callers; the HTTP layer checks no access. */
const TRANSPORTS = ['a2a.call', 'mcp.call'];

/** End the session that calls them, so they come last. */
const ENDS = ['membership.revoke_sessions', 'membership.logout', 'moderation.sign_out'];

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
function expectedDenial({ route }: Operation, caller: Caller): string | null {
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

/** Calls an operation with nothing that it would accept, and returns the refusal of the caller. */
async function denialOf({ baseUrl }: Service, { route }: Operation, { headers }: Caller) {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const path = fillPath(route, Object.fromEntries(names.map((name) => [name, randomUUID()])));
  const type = route.form ? 'application/x-www-form-urlencoded' : 'application/json';
  const answer = await fetch(`${baseUrl}${path}`, {
    method: route.method,
    redirect: 'manual',
    headers: {
      ...headers,
      ...(route.method === 'GET' ? {} : { origin: baseUrl }),
      ...(route.body ? { 'content-type': type } : {}),
      ...(route.idempotency === 'required' ? { 'idempotency-key': randomUUID() } : {}),
    },
    ...(route.body ? { body: route.form ? 'unknown=1' : '{"unknown":1}' } : {}),
  });
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    await answer.body?.cancel();
    return null;
  }
  const [, code = null] = /"code":\s*"(\w+)"/.exec(await answer.text()) ?? [];
  return answer.status >= 400 && code && DENIALS.includes(code) ? code : null;
}

t.test('each operation admits the callers that its route names, and no others', async (t) => {
  const service = await startService(t);
  const callers: Caller[] = [
    { name: 'anonymous', headers: {} },
    { name: 'another scheme', headers: { authorization: 'Basic YTpi' } },
    ...(await createMembers(service)),
    ...(await createModerators(service)),
  ];
  const all = [...service.operations.values()];
  t.same(
    all
      .filter(({ route }) => route.transport)
      .map(({ id }) => id)
      .sort(),
    TRANSPORTS,
  );
  const operations = all.filter(({ id, route }) => !route.transport && !ENDS.includes(id));
  const last = ENDS.map((id) => all.find((operation) => operation.id === id) as Operation);
  const wrong: string[] = [];
  let cells = 0;
  const check = async (operation: Operation, caller: Caller) => {
    const expected = expectedDenial(operation, caller);
    const found = await denialOf(service, operation, caller);
    cells++;
    // Such a handler looks for the session itself, which a form without one does not reach.
    const open = operation.route.checksSession && !caller.session && found === 'session_required';
    if (found !== expected && !open)
      wrong.push(`${operation.id}, ${caller.name}: ${found} instead of ${expected}`);
  };
  const pairs = operations.flatMap((operation) => callers.map((caller) => ({ operation, caller })));
  await mapConcurrently(pairs, 16, ({ operation, caller }) => check(operation, caller));
  for (const operation of last) for (const caller of callers) await check(operation, caller);
  t.same(wrong, []);
  t.equal(cells, callers.length * (all.length - TRANSPORTS.length));
  t.ok(all.filter(({ route }) => isForModerators(route)).length > 10);
  t.comment(`${all.length} operations, ${callers.length} kinds of callers, ${cells} cells`);
});
