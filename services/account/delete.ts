import { type Closing, closingsWithRows, lockOf } from '../closing.ts';
import { refuse } from '../eventstore/decider.ts';
import type { PrincipalOf } from '../http/principal.ts';
import type { Receipt } from '../http/schemas.ts';
import type { MemberCommand } from '../member-command.ts';

export interface DeletionRequest {
  confirm_handle: string;
  erase_notes: boolean;
}

interface Deactivated {
  status: 'deactivated';
  receipt: Receipt;
}

/** The end of a member with all that ends with it, and the job that erases the rest. */
export function deleteAccount(
  closings: readonly Closing[],
  { memberId, handle }: Pick<PrincipalOf<'credential'>, 'memberId' | 'handle'>,
  body: DeletionRequest,
): MemberCommand<200, Deactivated, 'invalid_request'> {
  const request = { eraseNotes: body.erase_notes };
  const lock = lockOf(closings, memberId);
  return {
    ...(lock ? { lock } : {}),
    load: closings.flatMap((closing) => closing.load(memberId)),
    decide({ rows: loaded, now }) {
      if (body.confirm_handle !== handle)
        return refuse('invalid_request', {
          issues: [{ path: 'confirm_handle', message: 'must be your handle' }],
        });
      const parts = closingsWithRows(closings, memberId, loaded);
      return {
        status: 200,
        appends: parts.flatMap(({ closing, rows }) => closing.close(memberId, rows, now, request)),
        rows: parts.flatMap(
          ({ closing, rows }) => closing.rows?.(memberId, rows, now, request) ?? [],
        ),
        jobs: [{ queue: 'erase-member', data: { member_id: memberId } }],
        body: (receipt) => ({ status: 'deactivated', receipt }),
      };
    },
  };
}
