import { randomUUID } from 'node:crypto';
import t from 'tap';
import { asking, VERSION } from '../../../harness/a2a.ts';
import { mapConcurrently } from '../../../platform/concurrency.ts';
import type { Operation } from '../../../platform/http/invoke.ts';
import { isMutation } from '../../../platform/http/route.ts';
import { methods, UNSUPPORTED_METHODS } from '../../../services/protocols/a2a/methods.ts';
import { type Caller, createCallers, DENIALS, expectedDenial } from '../../support/callers.ts';
import { type Service, startService } from '../../support/service.ts';

const NOT_OFFERED = 'UNSUPPORTED_OPERATION';

/** Exist over HTTP only, although a bearer or anybody may call them there. */
const HTTP_ONLY = ['credential.rotate', 'credential.revoke', 'account.export', 'account.delete'];

/** The answer of each method to a caller with a bearer, and to one without; null for no refusal. */
const METHODS: Record<string, [proven: string | null, unproven?: string]> = {
  SendMessage: [null],
  GetTask: ['TASK_NOT_FOUND'],
  CancelTask: ['TASK_NOT_FOUND'],
  ListTasks: [null],
  SendStreamingMessage: [NOT_OFFERED, NOT_OFFERED],
  SubscribeToTask: [NOT_OFFERED, NOT_OFFERED],
  GetExtendedAgentCard: [NOT_OFFERED, NOT_OFFERED],
  ...Object.fromEntries(
    ['Create', 'Get', 'List', 'Delete'].map((verb) => [
      `${verb}TaskPushNotificationConfig${verb === 'List' ? 's' : ''}`,
      ['PUSH_NOTIFICATION_NOT_SUPPORTED', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ]),
  ),
};

/** The refusal of a caller whose bearer is not accepted; null if it is. */
function unprovenDenial({ scopes, headers }: Caller): string | null {
  if (scopes) return null;
  return headers.authorization ? 'credential_not_accepted' : 'credential_required';
}

/** Messages carry what a bearer may call of `/api/v1`, and what anybody may read as JSON. */
function isOffered({ id, route }: Operation): boolean {
  const { access, path, tag, replies } = route;
  if (tag === 'agents' || tag === 'operations') return false;
  if (access === 'public') return !isMutation(route) && replies[200]?.body !== undefined;
  const byBearer = access === 'bearer' || (typeof access === 'object' && 'scope' in access);
  return byBearer && path.startsWith('/api/v1/') && !HTTP_ONLY.includes(id);
}

async function reasonOf(service: Service, { headers }: Caller, body: unknown) {
  const answer = await service.call('POST', '/a2a', { body, headers: { ...headers, ...VERSION } });
  return answer.body.error?.data.at(-1).reason ?? null;
}

t.test(
  'a message runs what its bearer may call, and nothing else of the route table',
  async (t) => {
    const service = await startService(t);
    const callers = await createCallers(service);
    const operations = [...service.operations.values()];
    const pairs = operations.flatMap((operation) =>
      callers.map((caller) => ({ operation, caller })),
    );
    const wrong: string[] = [];
    await mapConcurrently(pairs, 16, async ({ operation, caller }) => {
      const expected =
        unprovenDenial(caller) ??
        (isOffered(operation) ? expectedDenial(operation, caller) : NOT_OFFERED);
      const call = asking(operation.id, { unknown: 1 }, randomUUID());
      const reason = await reasonOf(service, caller, call);
      const found = [...DENIALS, NOT_OFFERED].includes(reason) ? reason : null;
      if (found !== expected)
        wrong.push(`${operation.id}, ${caller.name}: ${found} instead of ${expected}`);
    });
    t.same(wrong, []);
    const offered = operations.filter(isOffered).length;
    t.ok(offered > 20 && offered < operations.length / 2);
    t.comment(`${operations.length} operations, ${offered} offered, ${callers.length} callers`);
  },
);

t.test('each method answers callers with and without a bearer as it is declared', async (t) => {
  const service = await startService(t);
  const callers = await createCallers(service);
  t.same([...methods.keys(), ...UNSUPPORTED_METHODS.keys()].sort(), Object.keys(METHODS).sort());
  const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'What can you do?' }] };
  for (const [method, [proven, unproven]] of Object.entries(METHODS)) {
    const params = method === 'SendMessage' ? { message } : {};
    const wrong: string[] = [];
    for (const caller of callers) {
      const found = await reasonOf(service, caller, { jsonrpc: '2.0', id: 1, method, params });
      const denial = unprovenDenial(caller);
      const expected = denial ? (unproven ?? denial) : proven;
      if (found !== expected) wrong.push(`${caller.name}: ${found} instead of ${expected}`);
    }
    t.same(wrong, [], method);
  }
});
