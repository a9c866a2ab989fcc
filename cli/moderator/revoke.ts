import { isRefusal } from '../../platform/refusal.ts';
import { revokeModerator } from '../../services/moderation/staff/moderators.ts';
import { oneName, withStorage } from './storage.ts';
import { printable } from './terminal.ts';

export async function run(args: string[]): Promise<void> {
  const name = oneName(args);
  await withStorage(async (core) => {
    const revoked = await revokeModerator(core, name);
    if (isRefusal(revoked)) {
      process.stderr.write(`There is no active moderator ${printable(name)}.\n`);
      process.exitCode = 1;
    } else process.stdout.write(`Revoked ${revoked.id}\n`);
  });
}
