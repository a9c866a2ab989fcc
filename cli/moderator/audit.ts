import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { parseArguments } from '../../platform/command-line/arguments.ts';
import { type Api, createApiClient, explain } from './api.ts';
import { leave, printableJson } from './terminal.ts';

/** Streams the whole audit as lines of JSON, oldest first; with `--proofs`, a page of proofs in each line. */
export async function audit(args: string[]): Promise<void> {
  const { values } = parseArguments(args, { proofs: { type: 'boolean' } });
  const api = await createApiClient();
  if (values.proofs) return printProofs(api);
  const response = await api.send('GET', 'audit?format=ndjson');
  if (!response.ok || !response.body)
    leave(`${explain({ status: response.status, body: await response.json() })}\n`);
  const lines = createInterface({ input: Readable.fromWeb(response.body), crlfDelay: Infinity });
  for await (const line of lines) await print(line);
}

async function printProofs(api: Api): Promise<void> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const asked: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await api.need('GET', `audit/proofs?limit=100${asked}`);
    const { checkpoint, events } = page;
    if (events.length > 0) await print(JSON.stringify({ checkpoint, events }));
    cursor = page.next_cursor;
  }
}

async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${printableJson(line)}\n`)) await once(process.stdout, 'drain');
}
