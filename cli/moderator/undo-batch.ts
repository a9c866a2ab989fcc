import { parseArguments } from '../../platform/command-line/arguments.ts';
import { createApiClient, postPages } from './api.ts';
import { say } from './terminal.ts';

interface Result {
  status: string;
  note_id: string;
  error?: { code: string; reason?: string };
}

/** Undoes a batch of decisions, or a rewind, and prints the result for each note. */
export async function run(args: string[]): Promise<void> {
  const {
    positionals: [batchId = ''],
  } = parseArguments(args, {}, [1, 1]);
  const api = await createApiClient();
  const pages = await postPages(api, `batches/${encodeURIComponent(batchId)}/undo`, () => ({}));
  const results = pages.flatMap((page): Result[] => page.results);
  for (const { status, note_id, error } of results)
    say(`${status}  note ${note_id}${error?.reason ? `  (${error.reason})` : ''}`);
}
