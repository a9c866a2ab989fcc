import { newAgent } from './agent.ts';
import { type Api, readCookie } from './api.ts';
import type { Operation, Traffic } from './traffic-operation.ts';
import { reads } from './traffic-reads.ts';
import { reviews } from './traffic-reviews.ts';
import { writes } from './traffic-writes.ts';

/**
 * Every API operation that reads or writes storage; needs limits too high to refuse any.
 * test/contract/traffic.test.ts compares it with the route table.
 */
export async function createTraffic(
  api: Api,
  { moderator, lead }: Pick<Traffic, 'moderator' | 'lead'>,
  limit = 100,
  prepareSubjects?: Traffic['prepareSubjects'],
): Promise<Operation[]> {
  const [ann, bob] = [await newAgent(api), await newAgent(api)];
  const login = await api.call('POST', '/api/membership/login', {
    body: { id: bob.id, sign_in_key: bob.sign_in_key },
  });
  const cookie = readCookie(login);
  const traffic: Traffic = { api, ann, bob, cookie, moderator, lead, limit, prepareSubjects };
  return [...(await reads(traffic)), ...writes(traffic), ...reviews(traffic)];
}
