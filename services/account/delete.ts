import { eraseMember } from '../../domain/account/jobs.ts';
import type { OwnAppend } from '../../platform/eventstore/append.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import {
  type Command,
  defineCommand,
  handle,
  NOTHING_TO_DO,
  type Policy,
} from '../../platform/eventstore/handle.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { Call, ReplyOf } from '../../platform/http/route.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import { jobOf } from '../../platform/jobs/job-type.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { refuse } from '../../platform/refusal.ts';
import { findUse } from '../../projections/membership/members.ts';
import {
  type AccountClosure,
  CLOSURE_BATCH,
  type ClosingRequest,
  FIRST_BATCH,
} from '../account-closure.ts';
import { byDisabledMember } from '../disabling/proof.ts';
import { memberClosure } from '../membership/closure-and-export.ts';
import type { accountContract } from './contract.ts';

export interface DeletionRequest {
  confirm_handle: string;
  erase_notes: boolean;
}

/**
 * Closes the account in every capability, deactivates the member last, so that no event by the
 * member follows in the log, and enqueues the job that ends and erases the rest.
 */
export function deleteAccount<Code extends string>(
  store: EventStore,
  policy: Policy<
    Code,
    ReplyOf<ReturnType<typeof accountContract>['account.delete']>,
    null,
    ReceiptBody
  >,
  accountClosures: readonly AccountClosure[],
  { memberId, handle: name }: Pick<PrincipalOf<'credential'>, 'memberId' | 'handle'>,
  body: DeletionRequest,
) {
  const request = { eraseNotes: body.erase_notes };
  const closures = [...accountClosures, memberClosure];
  const { find, load: records } = readsOf(closures, memberId, request, FIRST_BATCH);
  return handle(store, policy, {
    find,
    load: { records },
    decide(loaded, now) {
      if (body.confirm_handle !== name) return refuse('invalid_request', NOT_YOUR_HANDLE);
      return {
        ...endingsOf(closures, memberId, request, loaded.records, now),
        jobs: [erasureJob(memberId)],
        reply: (receipt) => ({
          status: 200 as const,
          body: { status: 'deactivated' as const, receipt },
        }),
      };
    },
  });
}

const NOT_YOUR_HANDLE = {
  issues: [{ path: 'confirm_handle', message: 'must be your handle' }],
};

/** Deletes the account of a disabled member who proves the sign-in key. */
export function deleteDisabled(
  { store, keys }: { store: EventStore; keys: KeyRing },
  accountClosures: readonly AccountClosure[],
  call: Pick<
    Call<ReturnType<typeof accountContract>['membership.delete_disabled']>,
    'route' | 'body'
  >,
) {
  const { body } = call;
  const { id } = body;
  const request = { eraseNotes: body.erase_notes };
  const closures = [...accountClosures, memberClosure];
  const { find, load: records } = readsOf(closures, id, request, FIRST_BATCH);
  return handle(store, byDisabledMember(keys, call), {
    find,
    load: { records },
    decide(loaded, now, { handle: name }) {
      if (body.confirm_handle !== name) return refuse('invalid_request', NOT_YOUR_HANDLE);
      return {
        ...endingsOf(closures, id, request, loaded.records, now),
        jobs: [erasureJob(id)],
        reply: () => ({ status: 200 as const, body: { status: 'deactivated' as const } }),
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

/** What a closure records as the member is recorded as the service. */
const asService = (append: OwnAppend): OwnAppend => ({ ...append, actor: SERVICE_ACTOR });

/**
 * Ends the next batch of records that did not fit in the deletion's transaction. Returns false once
 * none are left. The actor is the service, because the member is already deactivated.
 */
export function closeMore(
  closures: readonly AccountClosure[],
  memberId: string,
  request: ClosingRequest,
): Command<boolean> {
  const { find, load: records } = readsOf(closures, memberId, request, CLOSURE_BATCH);
  return defineCommand({
    lock: [memberId],
    find,
    load: { records },
    decide(loaded, now) {
      const { appends, rows } = endingsOf(closures, memberId, request, loaded.records, now);
      if (appends.length === 0) return NOTHING_TO_DO;
      return { appends: appends.map(asService), rows, reply: () => true };
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
    decide({ used, records: loaded }, now) {
      const { appends, rows } = endingsOf(closures, memberId, request, loaded, now);
      if (used.length > 0 || appends.length === 0) return NOTHING_TO_DO;
      return {
        appends: appends.map(asService),
        rows,
        jobs: [erasureJob(memberId)],
        reply: () => true,
      };
    },
  });
}
