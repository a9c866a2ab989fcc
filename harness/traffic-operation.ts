import type { Agent } from './agent.ts';
import type { Answer, Api } from './api.ts';
import type { Moderator } from './moderation.ts';

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
