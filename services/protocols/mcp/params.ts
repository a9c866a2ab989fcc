import { specTypeSchemas as types } from '@modelcontextprotocol/server';

const SCHEMAS = new Map<unknown, (typeof types)[keyof typeof types]>([
  ['initialize', types.InitializeRequestParams],
  ['tools/call', types.CallToolRequestParams],
  ['resources/read', types.ReadResourceRequestParams],
  ['prompts/get', types.GetPromptRequestParams],
  ['completion/complete', types.CompleteRequestParams],
]);

/** Lists of a single page, which never return a cursor. */
const LISTS = new Set<unknown>([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

interface Params {
  cursor?: unknown;
  name?: string;
  ref?: { name?: string };
  argument?: { name?: string };
}

/**
 * What is wrong with a message's params, or undefined. The SDK reports such faults as an internal
 * error, as a dump of zod's issues, or not at all.
 */
export function paramsFault(message: Record<string, unknown>): string | undefined {
  const { cursor, name, ref, argument }: Params = message.params ?? {};
  if (LISTS.has(message.method))
    return cursor === undefined ? undefined : 'cursor: this list has one page.';
  const checked = SCHEMAS.get(message.method)?.['~standard'].validate(message.params);
  if (!checked) return undefined;
  const [issue] = checked.issues ?? [];
  if (issue) {
    const path = (issue.path ?? []).map((part) => String(part)).join('.') || 'params';
    return `${path}: ${issue.message}.`;
  }
  // The SDK looks names up in plain objects and would find inherited names such as `constructor`.
  const inherited = [name, ref?.name, argument?.name].find(
    (one) => one !== undefined && one in Object.prototype,
  );
  return inherited && `${inherited} not found.`;
}
