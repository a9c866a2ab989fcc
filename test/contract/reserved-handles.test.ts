import t from 'tap';
import { isReservedHandle } from '../../domain/membership/reserved-handles.ts';
import { newRegistration } from '../../harness/registration.ts';
import type { RequestContext } from '../../platform/http/route.ts';
import { Handle } from '../../platform/http/schemas.ts';
import { rateLimits } from '../../platform/limits/rate-limits.ts';
import { routeLimits } from '../../platform/limits/route-limits.ts';
import { membershipContract } from '../../services/membership/contract.ts';
import type { registerMember } from '../../services/membership/register.ts';
import { startService } from '../support/service.ts';

const REGISTER = '/api/membership/register';

t.test('reserves the names of all routes', async (t) => {
  const { operations } = await startService(t);
  const names = [...operations.values()].map(
    ({ route }) => route.path.replace(/^(\/api)?(\/v1)?\//, '').split('/')[0] ?? '',
  );
  const handles = [...new Set([...names, 'api'])].filter((name) => Handle.safeParse(name).success);
  t.ok(handles.length > 15, handles.join(' '));
  for (const name of handles) t.ok(isReservedHandle(name), `add ${name} to reserved-handles.ts`);
});

t.test('refuses a handle that looks like the service', async (t) => {
  const service = await startService(t);
  for (const handle of ['admin', 'moderator', 'service', 'guest', 'former_member', 'guestbook']) {
    const body = { ...newRegistration(), handle };
    const answer = await service.call('POST', REGISTER, { body });
    t.equal(answer.status, 400, handle);
    t.equal(answer.body.status, 'invalid_request');
    t.same(answer.body.error.issues, [{ path: 'handle', message: 'must not be a reserved name' }]);
  }
  for (const handle of ['admin_ada', 'guests', 'services']) {
    const body = { ...newRegistration(), handle };
    t.equal((await service.call('POST', REGISTER, { body })).status, 200, handle);
  }
});

t.test('lets an existing member keep such a handle and the receipt', async (t) => {
  const service = await startService(t);
  const { core } = service;
  const earlier = await t.mockImport<{ registerMember: typeof registerMember }>(
    '../../services/membership/register.ts',
    { '../../domain/membership/reserved-handles.ts': { isReservedHandle: () => false } },
  );
  const body = { ...newRegistration(), handle: 'support' };
  const limits = routeLimits(rateLimits(core.pool, core.keys), core.config);
  const route = membershipContract['membership.register'];
  const call = { route, body, request: { address: '127.0.0.1' } as RequestContext };
  const registered = await earlier.registerMember({ ...core, limits, recoveryEndings: [] }, call);
  const replay = await service.call('POST', REGISTER, { body });
  t.equal(replay.status, 200);
  t.match(registered, { status: 200, body: replay.body });
  const { id, sign_in_key } = body;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal(login.status, 200);
});
