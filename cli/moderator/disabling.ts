import { ArgumentError, parseArguments } from '../../platform/command-line/arguments.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal, type Refusal } from '../../platform/refusal.ts';
import { openAppeals } from '../../projections/disabling/member-appeals.ts';
import { findMemberByHandle } from '../../projections/membership/members.ts';
import type { Core } from '../../services/compose.ts';
import { disableMember, enableMember } from '../../services/disabling/commands.ts';
import { disablingEndings } from '../../services/features.ts';
import { oneName, zonedTime } from './arguments.ts';
import { withStorage } from './storage.ts';
import { printable } from './terminal.ts';

/** Disables a membership as the operator. */
export async function disable(args: string[]): Promise<void> {
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

/** Lifts the disabling of a membership as the operator. */
export async function enable(args: string[]): Promise<void> {
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

const MOST = 100;

/** Prints the oldest open appeals of disabled members, one line each; `enable` grants one. */
export async function appeals(args: string[]): Promise<void> {
  parseArguments(args);
  await withStorage(async ({ pool }) => {
    for (const row of await query(pool, openAppeals(MOST))) {
      const columns = [
        row.opened_at.toISOString(),
        row.handle,
        row.policy ?? '-',
        row.disabled_by ?? 'operator',
        row.text ?? '-',
      ];
      process.stdout.write(`${columns.map(printable).join('\t')}\n`);
    }
  });
}

/** The member with a handle; or else says that no member has it, and sets the exit code. */
export async function memberCalled(
  { pool }: Core,
  handle: string,
): Promise<{ member_id: string; handle: string } | undefined> {
  const [member] = await query(pool, findMemberByHandle(handle));
  if (!member) fail(`There is no member ${printable(handle)}.`);
  return member;
}

/** Says why a decision on the membership was refused; `stateText` says what its state is. */
export function sayRefused({ refused, details }: Refusal, handle: string, stateText: string): void {
  const [issue] = (details?.issues ?? []) as { path: string; message: string }[];
  if (issue) fail(`--${issue.path} ${issue.message}.`);
  else fail(`${printable(handle)} ${refused === 'state_conflict' ? stateText : 'is no member'}.`);
}

function fail(text: string): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
