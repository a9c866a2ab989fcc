import { parseArguments } from '../../platform/command-line/arguments.ts';
import { rescreen } from '../../services/screening/screening.ts';
import { withStorage } from './storage.ts';

/** Enqueues the pending notes that the current screening rules have not seen. */
export async function run(args: string[]): Promise<void> {
  parseArguments(args);
  await withStorage(async ({ store }) => {
    process.stdout.write(`Enqueued ${await rescreen(store)} notes to be screened again\n`);
  });
}
