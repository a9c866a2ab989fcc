import type { Agent } from './agent.ts';
import type { Api, ApiResponse } from './api.ts';
import type { Moderator } from './moderation.ts';

/** A repeatable API operation. */
export interface Operation {
  /** Method and path template, with the variant if there is one. */
  name: string;
  /** Creates the prerequisites of one request and returns a function that sends it. */
  prepare(): Promise<() => Promise<ApiResponse>>;
}

export interface Traffic {
  api: Api;
  /** Two members with every scope; `cookie` is a session of the second. */
  ann: Agent;
  bob: Agent;
  cookie: string;
  moderator: Moderator;
  lead: Moderator;
  /** Rows per page. */
  limit: number;
  /** Called with the subjects of the reads before the first read. */
  prepareSubjects?: ((subjects: Subjects) => Promise<void>) | undefined;
}

/** A member, and a case and a guest's public note, which the reads show. */
export interface Subjects {
  memberId: string;
  caseId: string;
  noteId: string;
}

/** An operation without prerequisites. */
export const createOperation = (name: string, send: () => Promise<ApiResponse>): Operation => ({
  name,
  prepare: async () => send,
});

/** Returns the body of a response; throws if the status is 300 or higher. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of the JSON
export async function expectSuccess(sent: Promise<ApiResponse>): Promise<any> {
  const answer = await sent;
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}
