import { query } from '../../platform/postgres/query.ts';
import type { Refusal } from '../../platform/refusal.ts';
import { findMemberByHandle } from '../../projections/membership/members.ts';
import type { Core } from '../../services/compose.ts';
import { printable } from './terminal.ts';

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
