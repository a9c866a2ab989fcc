import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Test } from 'tap';
import { SVC } from './svc.ts';

export type Answer = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, boolean> };
export const ACCEPT: Answer = { action: 'accept', content: { send: true } };

export type Revision = '2025-11-25' | '2026-07-28';
export const REVISIONS: readonly Revision[] = ['2025-11-25', '2026-07-28'];

/** How a host starts the bridge. A stalled answer is given up, and the request sent again, after seconds. */
const server = (home: string, { flags = [], svc = SVC }: Host) => ({
  command: process.execPath,
  args: [svc, 'mcp', '--home', home, '--attempt-timeout', '3', ...flags],
  stderr: 'pipe' as const,
});

interface Host {
  revision?: Revision;
  flags?: readonly string[];
  /** The command, if not `svc` of this repository. */
  svc?: string;
}

/** The SDK's client of a bridge, whose person gives an answer; without one it cannot ask. */
export async function bridge(
  t: Test,
  home: string,
  answer?: Answer,
  { revision = '2025-11-25', ...host }: Host = {},
) {
  const questions: string[] = [];
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const info = { name: 'test', version: '1' };
  const transport =
    revision === '2026-07-28'
      ? new ModernTransport(server(home, host))
      : new StdioClientTransport(server(home, host));
  let err = '';
  transport.stderr?.on('data', (part) => {
    err += part;
  });
  const reply = (message: string, given: Answer) => {
    questions.push(message);
    return given;
  };
  let client: Client | ModernClient;
  if (transport instanceof ModernTransport) {
    const versionNegotiation = { mode: { pin: revision } };
    client = new ModernClient(info, { capabilities, versionNegotiation });
    if (answer)
      client.setRequestHandler('elicitation/create', ({ params }) => reply(params.message, answer));
    await client.connect(transport);
  } else {
    client = new Client(info, { capabilities });
    if (answer)
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => reply(params.message, answer));
    await client.connect(transport);
  }
  t.teardown(() => client.close());
  const call = async (
    name: string,
    given: Record<string, unknown> = {},
    options: { signal?: AbortSignal } = {},
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what was answered
  ): Promise<any> => {
    const words = { name, arguments: given };
    const result = await (client instanceof ModernClient
      ? client.callTool(words, options)
      : client.callTool(words, undefined, options));
    return { isError: result.isError === true, ...(result.structuredContent as object) };
  };
  return { client, call, questions, pid: () => transport.pid ?? 0, err: () => err };
}
