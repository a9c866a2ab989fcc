import type { Config } from '../../platform/config.ts';
import { implement, type Routes } from '../../platform/http/route.ts';
import { a2aContract } from './a2a/contract.ts';
import { type A2aDeps, a2aHandlers } from './a2a/handlers.ts';
import { mcpCardHandlers } from './mcp/card.ts';
import { mcpCardContract, mcpContract } from './mcp/contract.ts';
import { type McpDeps, mcpHandlers } from './mcp/handlers.ts';

export type ProtocolsDeps = A2aDeps &
  McpDeps & { config: Pick<Config, 'a2aEnabled' | 'mcpServerCard'> };

export const routes = (deps: ProtocolsDeps): readonly Routes[] => [
  ...(deps.config.a2aEnabled ? [implement(a2aContract, a2aHandlers(deps))] : []),
  implement(mcpContract, mcpHandlers(deps)),
  ...(deps.config.mcpServerCard ? [implement(mcpCardContract, mcpCardHandlers(deps.config))] : []),
];
