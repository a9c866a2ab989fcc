import type { Readable } from 'node:stream';
import { plainJson } from './terminal.ts';

/** A JSON-RPC message, as far as it is checked. */
export interface Message {
  id?: string | number;
  method?: string;
  params: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/** A line longer than this is refused unread. */
const MAX_LINE = 1_000_000;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Writes a message as one line, and calls back once it has left. Control characters of records are escaped. */
export function writeMessage(message: object, written?: () => void): void {
  process.stdout.write(`${plainJson({ jsonrpc: '2.0', ...message })}\n`, (failure) => {
    if (!failure) written?.();
  });
}

export const writeError = (id: string | number | null, code: number, message: string) =>
  writeMessage({ id, error: { code, message } });

/** Reads messages until the input ends. Any other line is answered with an error. */
export async function readMessages(
  input: Readable,
  handle: (message: Message) => void,
): Promise<void> {
  for await (const line of linesOf(input)) {
    if (line === undefined) {
      writeError(null, -32600, `A message has at most ${MAX_LINE} bytes`);
      continue;
    }
    if (line.trim() === '') continue;
    let parsed: unknown;
    try {
      parsed = JSON.parse(line);
    } catch {
      writeError(null, -32700, 'The line is not JSON');
      continue;
    }
    const message = toMessage(parsed);
    if (message) handle(message);
    else writeError(null, -32600, 'The line is not a JSON-RPC message');
  }
}

function toMessage(parsed: unknown): Message | undefined {
  if (!isRecord(parsed) || parsed.jsonrpc !== '2.0') return undefined;
  const { id, method, params = {}, result, error } = parsed;
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
  if (method === undefined ? id === undefined : typeof method !== 'string') return undefined;
  if (!isRecord(params)) return undefined;
  return {
    params,
    ...(id === undefined ? {} : { id: id as string | number }),
    ...(method === undefined ? {} : { method: method as string }),
    result,
    error,
  };
}

/** Yields lines, and `undefined` for one that is too long. */
async function* linesOf(input: Readable): AsyncGenerator<string | undefined, void, void> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const last = chunk.subarray(from, end);
      yield length + last.length > MAX_LINE
        ? undefined
        : Buffer.concat([...parts, last]).toString('utf8');
      [parts, length, from] = [[], 0, end + 1];
    }
    const rest = chunk.subarray(from);
    length += rest.length;
    if (length > MAX_LINE) parts = [];
    else parts.push(rest);
  }
}
