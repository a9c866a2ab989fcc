import { randomUUID } from 'node:crypto';
import t from 'tap';
import { mapConcurrently } from '../../../platform/concurrency.ts';
import type { Operation } from '../../../platform/http/invoke.ts';
import { fillPath, isForModerators } from '../../../platform/http/route.ts';
import { type Caller, createCallers, DENIALS, expectedDenial } from '../../support/callers.ts';
import { type Service, startService } from '../../support/service.ts';

/** Speak another protocol, whose callers have a matrix beside its tests; the HTTP layer checks no access. */
const TRANSPORTS = ['a2a.call', 'mcp.call'];

/** End the session that calls them, so they come last. */
const ENDS = ['membership.revoke_sessions', 'membership.logout', 'moderation.sign_out'];

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
  const callers = await createCallers(service);
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
