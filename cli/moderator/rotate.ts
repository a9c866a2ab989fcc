import { isRefusal } from '../../platform/refusal.ts';
import { rotateModerator } from '../../services/moderation/staff/moderators.ts';
import { oneName, withStorage } from './storage.ts';
import { printable } from './terminal.ts';

/** Gives a moderator a new token, which is the last line of the output. */
export async function run(args: string[]): Promise<void> {
  const name = oneName(args);
  await withStorage(async (core) => {
    const rotated = await rotateModerator(core, name);
    if (isRefusal(rotated)) {
      process.stderr.write(`There is no active moderator ${printable(name)}.\n`);
      process.exitCode = 1;
    } else
      process.stdout.write(
        `Rotated ${rotated.id}. Its sessions have ended. The new token is shown this once:\n${rotated.token}\n`,
      );
  });
}
