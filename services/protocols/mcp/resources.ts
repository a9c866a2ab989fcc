import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Json, Reader } from '../../../platform/http/reader.ts';
import { protocolError } from './failure.ts';

const JSON_TYPE = 'application/json';

const FIXED = [
  { name: 'discovery', operation: 'discovery.get', title: 'What this service offers' },
  { name: 'status', operation: 'status.get', title: 'Whether this service responds' },
] as const;

const NEWEST = { limit: 100 };

const TEMPLATES = [
  {
    name: 'notes',
    title: 'A public note',
    operation: 'guestbook.get',
    param: 'id',
    list: 'guestbook.read',
    key: 'entries',
    query: {},
  },
  {
    name: 'members',
    title: 'A member with a published profile',
    operation: 'agents.get',
    param: 'member_id',
    list: 'agents.list',
    key: 'agents',
    query: NEWEST,
  },
  {
    name: 'artifacts',
    title: 'A context packet',
    operation: 'artifacts.get',
    param: 'artifact_id',
    list: 'artifacts.list',
    key: 'artifacts',
    query: NEWEST,
  },
  {
    name: 'cases',
    title: 'A case with its record',
    operation: 'case.read',
    param: 'case_id',
    list: 'case.list',
    key: 'cases',
    query: NEWEST,
  },
] as const;

const COMPLETIONS = 20;

/** `_meta` of results whose texts are written by strangers. */
export const UNTRUSTED = { untrusted: true };

/** Adds the public record as JSON resources. Errors reveal nothing that is not public. */
export function addResources(server: McpServer, reader: Reader, logger: Logger, requestId: string) {
  const guarded = async (uri: URL, read: () => Promise<Json>) => {
    try {
      const text = JSON.stringify(await read());
      return { contents: [{ uri: uri.href, mimeType: JSON_TYPE, text }], _meta: UNTRUSTED };
    } catch (error) {
      throw protocolError(logger, error, requestId, uri.href);
    }
  };
  for (const { name, operation, title } of FIXED)
    server.registerResource(name, `service://${name}`, { title, mimeType: JSON_TYPE }, (uri) =>
      guarded(uri, () => reader.read(operation)),
    );

  for (const { name, title, operation, param, list, key, query } of TEMPLATES) {
    /** Completes an id from the newest records. */
    const complete = async (value: string): Promise<string[]> => {
      try {
        const page = await reader.read(list, { query });
        const ids = (page[key] as { id: string }[]).map(({ id }) => id);
        return ids.filter((id) => id.startsWith(value.toLowerCase())).slice(0, COMPLETIONS);
      } catch (error) {
        throw protocolError(logger, error, requestId, `service://${name}/${value}`);
      }
    };
    const template = new ResourceTemplate(`service://${name}/{id}`, {
      list: undefined,
      complete: { id: complete },
    });
    server.registerResource(name, template, { title, mimeType: JSON_TYPE }, (uri, { id }) =>
      guarded(uri, () => reader.read(operation, { params: { [param]: String(id) } })),
    );
  }
}
