import { handle } from '../../platform/eventstore/handle.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { enableMember } from '../../services/disabling/commands.ts';
import { memberCalled, sayRefused } from './member.ts';
import { oneName, withStorage } from './storage.ts';
import { printable } from './terminal.ts';

/** Lifts the disabling of a membership as the operator. */
export async function run(args: string[]): Promise<void> {
  const name = oneName(args);
  await withStorage(async (core) => {
    const member = await memberCalled(core, name);
    if (!member) return;
    const undoSeconds = core.config.undoWindowSeconds;
    const enabled = await handle(
      core.store,
      { type: 'operator' },
      enableMember(null, member.member_id, { undoSeconds }),
    );
    if (isRefusal(enabled)) sayRefused(enabled, member.handle, 'is not disabled');
    else process.stdout.write(`Enabled ${printable(member.handle)} (${member.member_id})\n`);
  });
}
