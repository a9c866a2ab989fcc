import { specTypeSchemas as types } from '@modelcontextprotocol/server';

const SCHEMAS = new Map<unknown, (typeof types)[keyof typeof types]>([
  ['initialize', types.InitializeRequestParams],
  ['tools/call', types.CallToolRequestParams],
  ['resources/read', types.ReadResourceRequestParams],
  ['prompts/get', types.GetPromptRequestParams],
  ['completion/complete', types.CompleteRequestParams],
]);

/** Each has one page, so there is no cursor that it ever gave. */
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
}

/**
 * What is wrong with a message's params, which the SDK tells as its own failure, by a dump of zod's,
 * or not at all.
 */
export function paramsFault(message: Record<string, unknown>): string | undefined {
  const { cursor, name, ref }: Params = message.params ?? {};
  if (LISTS.has(message.method))
    return cursor === undefined ? undefined : 'cursor: this list has one page.';
  const checked = SCHEMAS.get(message.method)?.['~standard'].validate(message.params);
  if (!checked) return undefined;
  const [issue] = checked.issues ?? [];
  if (issue) {
    const path = (issue.path ?? []).map((part) => String(part)).join('.') || 'params';
    return `${path}: ${issue.message}.`;
  }
  // It looks names up in plain objects.
  const inherited = [name, ref?.name].find((one) => one !== undefined && one in Object.prototype);
  return inherited && `${inherited} not found.`;
}
