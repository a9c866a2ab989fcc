import { sending } from '../harness/a2a.ts';
import type { Answer, Request } from './history.ts';

/** What a bearer may not ask for over A2A. */
const HTTP_ALONE = /^(credential|account)\./;

/**
 * The same write as a message of A2A, where it may be one: it has the receipt, and the answer, that
 * it has over HTTP.
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

/** What an answer to a message says, as HTTP says it. */
export function fromMessage(answer: Answer | undefined): Answer | undefined {
  const { result, error } = (answer?.body ?? {}) as {
    // biome-ignore lint/suspicious/noExplicitAny: a client reads whatever was answered
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

/** The first page of the guestbook, or of the replies to a note, by the tool of MCP. */
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

/** What the tool found, as HTTP says it. */
export function fromTool(answer: Answer | undefined): Answer | undefined {
  const { structuredContent, isError } = answer?.body?.result ?? {};
  return answer && structuredContent && !isError
    ? { ...answer, body: structuredContent }
    : undefined;
}
