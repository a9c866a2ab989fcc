import { parseArgs } from 'node:util';
import { createClient } from './client.ts';
import { createFileStore } from './file-store.ts';
import { NoAnswerError, normalizeBaseUrl, ProblemError } from './send.ts';
import type { Reset } from './updates.ts';

// A client that records the events of its member. Kill it at any moment and start it again: no
// event is lost, and none is recorded twice.

const USAGE = `Usage:
  npm run -s agent -- [ADDRESS] [FOLDER] [--limit N] [--until-now]

Registers a member at ADDRESS (http://localhost:3000), keeps its keys and its events in FOLDER (.agent),
and prints each new event.

--limit N    events in a page, 1 to 100 (100)
--until-now  exits after the newest event instead of waiting for more
`;

class UsageError extends Error {}

function readArguments(args: string[]) {
  const { values, positionals } = parse(args);
  const [address = 'http://localhost:3000', path = '.agent', ...more] = positionals;
  const limit = Number(values.limit);
  if (more.length > 0) throw new UsageError(`Unexpected argument '${more[0]}'.`);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new UsageError('--limit must be a whole number from 1 to 100.');
  try {
    return { baseUrl: normalizeBaseUrl(address), path, limit, untilNow: values['until-now'] };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}.`);
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        limit: { type: 'string', default: '100' },
        'until-now': { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    // Node adds advice after the first sentence.
    throw new UsageError(
      `${(error as Error).message.replace(/\.(?:\n| To specify)[\s\S]*$/, '')}.`,
    );
  }
}

async function run({ baseUrl, path, limit, untilNow }: ReturnType<typeof readArguments>) {
  const folder = createFileStore(path);
  const identity = folder.identity(`agent_${crypto.randomUUID().slice(0, 8)}`);
  const client = createClient({
    baseUrl,
    identity,
    keeper: folder.keeper,
    onRetry({ message }, milliseconds) {
      const seconds = Math.ceil(milliseconds / 1000);
      console.error(`${message.replace(/\.$/, '')}, retrying in ${seconds} s`);
    },
  });
  const saved = folder.pages();
  if (saved.length === 0) await client.register();
  const cursor = saved.at(-1)?.cursor;
  const onReset = (reset: Reset) => {
    folder.reset(reset);
    console.error(`the service was restored: event ${reset.keptThrough} is the last that was kept`);
  };
  const save = folder.savePage;
  for await (const event of client.updates({ cursor, save, onReset, limit, untilNow }))
    console.log(`${event.sequence} ${event.type} ${event.subject.type} ${event.subject.id}`);
}

const args = process.argv.slice(2);
if (args.includes('--help')) {
  process.stdout.write(USAGE);
} else {
  try {
    await run(readArguments(args));
  } catch (error) {
    const expected = [UsageError, ProblemError, NoAnswerError].some(
      (kind) => error instanceof kind,
    );
    if (!expected) throw error;
    console.error((error as Error).message);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
