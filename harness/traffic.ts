import { type Agent, newAgent } from './agent.ts';
import { type Answer, type Api, cookieOf } from './api.ts';
import type { Moderator } from './moderation.ts';
import { reads } from './traffic-reads.ts';
import { reviews } from './traffic-reviews.ts';
import { writes } from './traffic-writes.ts';

/** Something that a caller does with the API, as often as one likes. */
export interface Operation {
  /** Method and path template, and what is special about it. */
  name: string;
  /** Once more: what has to be there first is made, and the request comes back unsent. */
  prepare(): Promise<() => Promise<Answer>>;
}

export interface Traffic {
  api: Api;
  /** Two members with every scope, the second with sessions too. */
  ann: Agent;
  bob: Agent;
  cookie: string;
  moderator: Moderator;
  lead: Moderator;
  /** Of a page. */
  limit: number;
}

/** Every operation of the API that reads or writes storage; the limits must be out of its way. */
export async function openTraffic(
  api: Api,
  { moderator, lead }: Pick<Traffic, 'moderator' | 'lead'>,
  limit = 100,
): Promise<Operation[]> {
  const [ann, bob] = [await newAgent(api), await newAgent(api)];
  const login = await api.call('POST', '/api/membership/login', {
    body: { id: bob.id, sign_in_key: bob.sign_in_key },
  });
  const traffic: Traffic = { api, ann, bob, cookie: cookieOf(login), moderator, lead, limit };
  return [...(await reads(traffic)), ...writes(traffic), ...reviews(traffic)];
}

/** An operation that needs nothing first. */
export const at = (name: string, send: () => Promise<Answer>): Operation => ({
  name,
  prepare: async () => send,
});

/** The body of an answer that has to be a good one. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered
export async function good(sent: Promise<Answer>): Promise<any> {
  const answer = await sent;
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}
