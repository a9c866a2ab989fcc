import type { Config } from '../../platform/config.ts';
import { implement } from '../../platform/http/route.ts';
import type { Feature } from '../feature.ts';
import { a2aContract } from './a2a/contract.ts';
import { type A2aDeps, a2aHandlers } from './a2a/handlers.ts';
import { mcpContract } from './mcp/contract.ts';
import { type McpDeps, mcpHandlers } from './mcp/handlers.ts';

export const protocolsFeature: Feature<A2aDeps & McpDeps & { config: Pick<Config, 'a2aEnabled'> }> =
  {
    routes: (deps) => [
      ...(deps.config.a2aEnabled ? [implement(a2aContract, a2aHandlers(deps))] : []),
      implement(mcpContract, mcpHandlers(deps)),
    ],
  };
