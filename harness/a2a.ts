import { randomUUID } from 'node:crypto';
import type { Agent } from './agent.ts';
import type { Api, ApiResponse } from './api.ts';

export const VERSION = { 'a2a-version': '1.0' };

export const dataPart = (data: unknown) => ({ data });

/** The body of a SendMessage request. */
export const sending = (parts: unknown[], message: object = {}, params: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'SendMessage',
  params: { message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...message }, ...params },
});

export const asking = (operation: string, input: object = {}, key?: string) =>
  sending([dataPart({ operation, input, ...(key ? { idempotency_key: key } : {}) })]);

export function callA2a(
  service: Api,
  agent: Pick<Agent, 'authorization'>,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return service.call('POST', '/a2a', {
    body,
    headers: { authorization: agent.authorization, ...VERSION, ...headers },
  });
}

/** Returns the content of the response's single data part; throws if there is no result. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of the JSON
export function answered(answer: ApiResponse): any {
  const { result } = answer.body;
  if (!result) throw new Error(answer.text);
  return result.message.parts[0].data;
}
