import { ArgumentError, parseArguments } from '../../platform/command-line/arguments.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { disableMember } from '../../services/disabling/commands.ts';
import { disablingEndings } from '../../services/features.ts';
import { memberCalled, sayRefused } from './member.ts';
import { withStorage } from './storage.ts';
import { printable } from './terminal.ts';
import { zonedTime } from './zoned-time.ts';

/** Disables a membership as the operator. */
export async function run(args: string[]): Promise<void> {
  const { positionals, values } = parseArguments(
    args,
    { policy: { type: 'string' }, message: { type: 'string' }, until: { type: 'string' } },
    [1, 1],
  );
  const { policy, message, until } = values;
  if (!policy) throw new ArgumentError('--policy is missing.');
  if (message !== undefined && (message.trim() === '' || [...message].length > 500))
    throw new ArgumentError('--message has 1 to 500 characters.');
  const untilTime = until === undefined ? null : zonedTime('--until', until);
  await withStorage(async (core) => {
    const member = await memberCalled(core, positionals[0] ?? '');
    if (!member) return;
    const request = {
      policy,
      message: message ?? null,
      until: untilTime,
    };
    const undoSeconds = core.config.undoWindowSeconds;
    const disabled = await handle(
      core.store,
      { type: 'operator' },
      disableMember(null, member.member_id, request, {
        keys: core.keys,
        disablingEndings,
        undoSeconds,
      }),
    );
    if (isRefusal(disabled)) sayRefused(disabled, member.handle, 'is disabled already');
    else
      process.stdout.write(
        `Disabled ${printable(member.handle)} (${member.member_id}) ${untilTime ? `until ${untilTime.toISOString()}` : 'until it is lifted'}\n`,
      );
  });
}
