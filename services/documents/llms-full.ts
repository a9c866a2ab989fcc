import type { Config } from '../../platform/config.ts';
import type { OpenApiDocument } from '../../platform/http/openapi.ts';
import { forAgents } from './for-agents.ts';
import { referenceMarkdown } from './reference/markdown.ts';

/** The guide for agents and the reference of their operations in one text, for language models. */
export function llmsFull(config: Config, agents: OpenApiDocument): string {
  const { overview, pages } = referenceMarkdown(agents, config.baseUrl);
  return [forAgents(config).trimEnd(), overview, ...pages.values()].join('\n\n').concat('\n');
}
