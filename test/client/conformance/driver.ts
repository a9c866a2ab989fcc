import { createInterface } from 'node:readline';
import { createFileStore } from '../../../client/file-store.ts';
import { createClient, ProblemError } from '../../../client/public.ts';

// Drives the TypeScript client by the conformance list: reads a command on each line, and prints its
// outcome. driver.ts BASE_URL FOLDER OPTIONS. The test runs it in a project with the packed client.

interface Command {
  op: string;
  path?: string;
  body?: object;
  key?: string;
  cursor?: string;
  note?: string;
  message?: string;
  limit?: number;
  reset?: boolean;
}

const [baseUrl = '', folder = '', options = '{}'] = process.argv.slice(2);
const { lifetime, renew_before: renewBefore, patience } = JSON.parse(options);
const store = createFileStore(folder);
const waits: number[] = [];
const client = createClient({
  baseUrl,
  identity: store.identity(`driven_${crypto.randomUUID().slice(0, 8)}`),
  keeper: store.keeper,
  scopes: ['profile:write', 'case:create', 'updates:read', 'credential:manage'],
  ...(lifetime === undefined ? {} : { lifetime }),
  ...(renewBefore === undefined ? {} : { renewBefore }),
  ...(patience === undefined ? {} : { patience: patience * 1000 }),
  pause: async (milliseconds) => {
    waits.push(milliseconds / 1000);
  },
});

async function run(command: Command): Promise<object> {
  const { op, path = '', body = {}, key, note = '', message = '', limit = 100 } = command;
  if (op === 'register') return { member: (await client.register()).member.id };
  if (op === 'me') return { handle: (await client.me()).member.handle };
  if (op === 'renew') {
    await client.renew();
    return {};
  }
  if (op === 'write')
    return { status: (await client.write<{ status: string }>(path, body, key)).status };
  if (op === 'sign')
    return { status: (await client.guestbook.signAsMember({ id: note, message })).status };
  if (op === 'notes') {
    const notes: { id: string; state: string }[] = [];
    for await (const { id, state } of client.guestbook.mine({ limit })) notes.push({ id, state });
    return { notes };
  }
  if (op === 'withdraw_note') {
    const options = { idempotencyKey: key };
    return { status: (await client.guestbook.withdraw(note, options)).status };
  }
  if (op === 'updates') return updates(command);
  throw new Error(`no operation ${op}`);
}

async function updates({ cursor, limit = 100, reset = true }: Command): Promise<object> {
  const found: { sequence: number; type: string }[] = [];
  const cursors: string[] = [];
  const resets: number[] = [];
  const following = client.updates({
    cursor,
    limit,
    untilNow: true,
    save: (_, next) => {
      cursors.push(next);
    },
    ...(reset
      ? {
          onReset: ({ keptThrough }: { keptThrough: number }) => {
            resets.push(keptThrough);
          },
        }
      : {}),
  });
  for await (const event of following) found.push(event);
  return {
    sequences: found.map(({ sequence }) => sequence),
    types: found.map(({ type }) => type),
    cursor: cursors.at(-1) ?? null,
    resets,
  };
}

const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

print({ features: [] });
for await (const line of createInterface({ input: process.stdin })) {
  waits.length = 0;
  const outcome = await run(JSON.parse(line) as Command).then(
    (done) => ({ ok: true, ...done }),
    (error: Error) => ({
      ok: false,
      error: {
        name: error.name,
        message: error.message,
        ...(error instanceof ProblemError ? { status: error.status, code: error.code } : {}),
      },
    }),
  );
  print({ ...outcome, waits });
}
