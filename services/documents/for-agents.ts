import type { Config } from '../../platform/config.ts';
import { textFile } from './text-file.ts';

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
