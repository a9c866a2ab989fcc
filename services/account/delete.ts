import { eraseMember } from '../../domain/account/jobs.ts';
import {
  type Command,
  type Decision,
  defineCommand,
} from '../../platform/eventstore/event-store.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import { jobOf } from '../../platform/jobs/job-type.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { refuse } from '../../platform/refusal.ts';
import { findUse } from '../../projections/membership/unused-members.ts';
import { defineMemberCommand, type MemberCommand } from '../credentials/run-member-command.ts';
import { type MemberKey, readProof, refuseUnlessDisabled } from '../disabling/proof.ts';
import {
  type AccountClosure,
  CLOSURE_BATCH,
  type ClosingRequest,
  FIRST_BATCH,
} from '../membership/account-closure.ts';
import { memberClosure } from '../membership/closure.ts';

export interface DeletionRequest {
  confirm_handle: string;
  erase_notes: boolean;
}

interface Deactivated {
  status: 'deactivated';
  receipt: ReceiptBody;
}

/**
 * Closes the account in every capability, deactivates the member last, so that no event by the
 * member follows in the log, and enqueues the job that ends and erases the rest.
 */
export function deleteAccount(
  accountClosures: readonly AccountClosure[],
  { memberId, handle }: Pick<PrincipalOf<'credential'>, 'memberId' | 'handle'>,
  body: DeletionRequest,
): MemberCommand<200, Deactivated, 'invalid_request'> {
  const request = { eraseNotes: body.erase_notes };
  const closures = [...accountClosures, memberClosure];
  return defineMemberCommand({
    ...readsOf(closures, memberId, request, FIRST_BATCH),
    decide({ rows, now }) {
      if (body.confirm_handle !== handle) return refuse('invalid_request', NOT_YOUR_HANDLE);
      return {
        status: 200,
        ...endingsOf(closures, memberId, request, rows, now),
        jobs: [erasureJob(memberId)],
        body: (receipt) => ({ status: 'deactivated', receipt }),
      };
    },
  });
}

const NOT_YOUR_HANDLE = {
  issues: [{ path: 'confirm_handle', message: 'must be your handle' }],
};

/** Deletes the account of a disabled member who proves the sign-in key. */
export function deleteDisabled(
  keys: KeyRing,
  accountClosures: readonly AccountClosure[],
  body: MemberKey & DeletionRequest,
): Command<true, 'credentials_not_accepted' | 'state_conflict' | 'invalid_request'> {
  const { id } = body;
  const request = { eraseNotes: body.erase_notes };
  const closures = [...accountClosures, memberClosure];
  const { find, load: records } = readsOf(closures, id, request, FIRST_BATCH);
  return defineCommand({
    lock: [id],
    find,
    load: { proof: readProof(id), records },
    decide({
      rows: { proof, records },
      now,
    }): Decision<true, 'credentials_not_accepted' | 'state_conflict' | 'invalid_request'> {
      const refused = refuseUnlessDisabled(keys, body, proof);
      if (refused) return refused;
      if (body.confirm_handle !== proof.members[0]?.handle)
        return refuse('invalid_request', NOT_YOUR_HANDLE);
      return {
        answer: true as const,
        ...endingsOf(closures, id, request, records, now),
        jobs: [erasureJob(id)],
      };
    },
  });
}

const erasureJob = (memberId: string) => jobOf(eraseMember, { member_id: memberId });

/** What the closings read: the other members to lock, and at most `limit` records of each kind. */
const readsOf = (
  closures: readonly AccountClosure[],
  memberId: string,
  request: ClosingRequest,
  limit: number,
) => ({
  find: closures.flatMap((closure) => closure.find?.(memberId, request, limit) ?? []),
  load: closures.map((closure) => closure.load(memberId, request, limit)),
});

function endingsOf(
  closures: readonly AccountClosure[],
  memberId: string,
  request: ClosingRequest,
  rows: readonly unknown[],
  now: Date,
) {
  return {
    appends: closures
      .flatMap((closure, index) => closure.close(memberId, rows[index], now, request))
      .filter(({ events }) => events.length > 0),
    rows: closures.flatMap(
      (closure, index) => closure.rows?.(memberId, rows[index], now, request) ?? [],
    ),
  };
}

/**
 * Ends the next batch of records that did not fit in the deletion's transaction. Returns false once
 * none are left. The actor is the service, because the member is already deactivated.
 */
export function closeMore(
  closures: readonly AccountClosure[],
  memberId: string,
  request: ClosingRequest,
): Command<boolean> {
  return defineCommand({
    lock: [memberId],
    ...readsOf(closures, memberId, request, CLOSURE_BATCH),
    decide({ rows: loaded, now }) {
      const { appends, rows } = endingsOf(closures, memberId, request, loaded, now);
      if (appends.length === 0) return { unchanged: false };
      const actor = { type: 'service' as const };
      return { answer: true, appends: appends.map((append) => ({ ...append, actor })), rows };
    },
  });
}

/**
 * Deletes an account that has done nothing since its registration, as the member could. Returns false if
 * the member has signed in or is deleted meanwhile.
 */
export function deleteUnused(
  accountClosures: readonly AccountClosure[],
  memberId: string,
): Command<boolean> {
  const request = { eraseNotes: false };
  const closures = [...accountClosures, memberClosure];
  const { find, load: records } = readsOf(closures, memberId, request, FIRST_BATCH);
  return defineCommand({
    lock: [memberId],
    find,
    load: { used: findUse(memberId), records },
    decide({ rows: { used, records }, now }) {
      const { appends, rows } = endingsOf(closures, memberId, request, records, now);
      if (used.length > 0 || appends.length === 0) return { unchanged: false };
      const actor = { type: 'service' as const };
      return {
        answer: true,
        appends: appends.map((append) => ({ ...append, actor })),
        rows,
        jobs: [erasureJob(memberId)],
      };
    },
  });
}
