import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../platform/config.ts';
import type { OpenApiDocument } from '../../platform/http/openapi.ts';
import { referenceMarkdown } from './reference/markdown.ts';

/** Reads a file of this folder and replaces each `{name}` that `values` contains. */
export function textFile(name: string, values: Readonly<Record<string, string>> = {}): string {
  const text = readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');
  return text.replace(/\{([a-z_]+)\}/g, (whole, key: string) => values[key] ?? whole);
}

/** The guide for agents in Markdown. It does not mention A2A if A2A is disabled. */
export function forAgents({ baseUrl, limitWritesPerDay, a2aEnabled }: Config): string {
  const values = { base_url: baseUrl, writes_per_day: String(limitWritesPerDay) };
  const text = textFile('for-agents.md', values);
  return a2aEnabled ? text : text.replace(/^- A2A .*\n( {2}.*\n)*|^\| `POST \/a2a`.*\n/gm, '');
}

/** The page for developers in Markdown. It does not mention A2A or the MCP server card if they are disabled. */
export function forDevelopers({ baseUrl, a2aEnabled, mcpServerCard }: Config): string {
  const text = textFile('developers.md', { base_url: baseUrl });
  const withA2a = a2aEnabled ? text : text.replace(/^- A2A: .*\n/m, '');
  return mcpServerCard ? withA2a : withA2a.replace(/^- MCP server card: .*\n/m, '');
}

/** The guide for agents and the reference of their operations in one text, for language models. */
export function llmsFull(config: Config, agents: OpenApiDocument): string {
  const { overview, pages } = referenceMarkdown(agents, config.baseUrl);
  return [forAgents(config).trimEnd(), overview, ...pages.values()].join('\n\n').concat('\n');
}
