import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../../../platform/config.ts';
import type { Operations } from '../../../platform/http/invoke.ts';
import { createReader } from '../../../platform/http/reader.ts';
import type { Handler, Handlers } from '../../../platform/http/route.ts';
import type { RouteLimits } from '../../../platform/limits/route-limits.ts';
import type { mcpContract } from './contract.ts';
import type { McpRoute } from './endpoint.ts';
import { listedTool } from './listed-tool.ts';
import { noteTools } from './note-tools.ts';
import { recordTools } from './record-tools.ts';

export interface McpDeps {
  config: Pick<Config, 'baseUrl'>;
  limits: RouteLimits;
  readPool: pg.Pool;
  logger: Logger;
  /** Returns every operation of this instance; called on the first request. */
  operations: () => Operations;
}

export function mcpHandlers(deps: McpDeps): Handlers<typeof mcpContract> {
  const { config, readPool, logger } = deps;
  const { baseUrl } = config;
  let answer: ReturnType<typeof open> | undefined;

  /** Loads the SDK on the first request: its import takes a third of the start of a process. */
  async function open() {
    const [{ endpoint }, { mcpServer }] = await Promise.all([
      import('./endpoint.ts'),
      import('./server.ts'),
    ]);
    const operations = deps.operations();
    const [guestbook, ...search] = noteTools(readPool, operations);
    const [discovery, status, ...record] = recordTools(operations);
    const tools = [discovery, status, guestbook, ...record, ...search]
      .filter((tool) => !!tool)
      .map(listedTool);
    return endpoint(deps, (request) =>
      mcpServer(tools, createReader(operations, request), {
        baseUrl,
        logger,
        requestId: request.id,
      }),
    );
  }

  const call: Handler<McpRoute> = async ({ route, request }) => {
    const { incoming } = request;
    if (!incoming) throw new Error('mcp.call needs the request itself');
    answer ??= open();
    // Every call is anonymous: credentials that a client sends are removed without being read.
    const anonymous = { ...request, authorization: undefined, cookie: undefined, incoming };
    return (await answer)(route, anonymous) as unknown as ReturnType<Handler<McpRoute>>;
  };
  return { 'mcp.call': call };
}
