import { isRefusal } from '../refusal.ts';
import { invoke, type Operations } from './invoke.ts';
import { Problem, problemFrom } from './problems.ts';
import { responseBody } from './respond.ts';
import type { AnyReply, RequestContext } from './route.ts';

export type Json = Record<string, unknown>;

/** Runs read operations of the HTTP routes for one request, as an anonymous caller. */
export interface Reader {
  /** Returns the body of the reply. */
  read(operation: string, input?: Asked): Promise<Json>;
  reply(operation: string, input?: Asked): Promise<AnyReply>;
  /** Returns a signal that aborts when the caller disconnects. */
  gone(): AbortSignal;
}

interface Asked {
  params?: Record<string, string | undefined>;
  query?: Record<string, string | number | undefined>;
}

export function createReader(operations: Operations, request: RequestContext): Reader {
  async function reply(id: string, { params = {}, query = {} }: Asked = {}): Promise<AnyReply> {
    const operation = operations.get(id);
    // A page of a capability that this instance does not have.
    if (!operation) throw new Problem('not_found');
    const input = { params: textsOf(params), query: textsOf(query), body: undefined };
    const outcome = await invoke(operation, { kind: 'anonymous' }, input, request);
    if (isRefusal(outcome)) throw problemFrom(outcome);
    return outcome;
  }

  return {
    reply,
    read: async (id, input) => responseBody(await reply(id, input)),
    gone: () => request.gone(),
  };
}

/** The values that are present, as strings like in a URL. */
function textsOf(given: Record<string, string | number | undefined>): Record<string, string> {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, String(value)]));
}
