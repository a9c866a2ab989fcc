import { READING_TOOLS } from './mcp-reading-tools.ts';
import type { Tool } from './mcp-tool.ts';
import { WRITING_TOOLS } from './mcp-writing-tools.ts';

export const TOOLS: Readonly<Record<string, Tool>> = { ...READING_TOOLS, ...WRITING_TOOLS };

/** The list of the tools, as MCP has it. */
export const listTools = () =>
  Object.entries(TOOLS).map(([name, tool]) => {
    const { title, description, properties, required } = tool;
    const reads = 'read' in tool;
    return {
      name,
      title,
      description,
      inputSchema: { type: 'object', properties, required, additionalProperties: false },
      annotations: {
        title,
        readOnlyHint: reads,
        destructiveHint: !reads && tool.decides === true,
        idempotentHint: reads && name !== 'updates',
        openWorldHint: true,
      },
    };
  });
