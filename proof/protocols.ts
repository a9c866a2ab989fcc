import { sending } from '../harness/a2a.ts';
import type { Answer, Request } from './history.ts';

/** Mutations that A2A does not offer. */
const HTTP_ALONE = /^(credential|account)\./;

/**
 * Converts a write to an A2A message; undefined if A2A does not offer the operation. Receipt and
 * answer are the same as over HTTP.
 */
export function asMessage(operation: string, key: string, request: Request): Request | undefined {
  if (HTTP_ALONE.test(operation)) return undefined;
  const [, kind, id] = /^\/api\/v1\/(case|artifact)s\/([0-9a-f-]{36})/.exec(request.path) ?? [];
  const input = { ...(kind ? { [`${kind}_id`]: id } : {}), ...(request.body as object) };
  return {
    ...request,
    path: '/a2a',
    body: sending([{ data: { operation, input, idempotency_key: key } }]),
    headers: { ...request.headers, 'a2a-version': '1.0' },
  };
}

interface Failure {
  data?: { reason?: string; metadata?: { http_status?: string } }[];
}

/** Converts the answer to an A2A message into the equivalent HTTP answer. */
export function fromMessage(answer: Answer | undefined): Answer | undefined {
  const { result, error } = (answer?.body ?? {}) as {
    // biome-ignore lint/suspicious/noExplicitAny: clients read any field of the JSON
    result?: any;
    error?: Failure;
  };
  if (!answer || (!result && !error)) return answer;
  if (result) {
    const { status, result: body } = result.message.parts[0].data;
    return { ...answer, status, body };
  }
  const told = error?.data?.find(({ metadata }) => metadata?.http_status);
  const status = Number(told?.metadata?.http_status ?? answer.status);
  return { ...answer, status, body: { error: { code: told?.reason } } };
}

/** An MCP request for the first page of the guestbook, or of the replies to a note. */
export const noteTool = (parent: string | undefined): Request => ({
  method: 'POST',
  path: '/mcp',
  body: {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'list_notes', arguments: parent ? { id: parent } : {} },
  },
});

/** Converts the answer of the MCP tool into the equivalent HTTP answer. */
export function fromTool(answer: Answer | undefined): Answer | undefined {
  const { structuredContent, isError } = answer?.body?.result ?? {};
  return answer && structuredContent && !isError
    ? { ...answer, body: structuredContent }
    : undefined;
}
