import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { parseArguments } from '../../platform/command-line/arguments.ts';
import { createApiClient, explain } from './api.ts';
import { leave, printableJson } from './terminal.ts';

/** Streams the whole audit as lines of JSON, oldest first. */
export async function run(args: string[]): Promise<void> {
  parseArguments(args);
  const api = await createApiClient();
  const response = await api.send('GET', 'audit?format=ndjson');
  if (!response.ok || !response.body)
    leave(`${explain({ status: response.status, body: await response.json() })}\n`);
  const lines = createInterface({ input: Readable.fromWeb(response.body), crlfDelay: Infinity });
  for await (const line of lines)
    if (!process.stdout.write(`${printableJson(line)}\n`)) await once(process.stdout, 'drain');
}
