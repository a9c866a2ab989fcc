import { memberOwner } from '../../domain/owners.ts';
import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { definePolicy, type Policy } from '../../platform/eventstore/handle.ts';
import { requestIn } from '../../platform/eventstore/idempotency.ts';
import type { Load, Rows } from '../../platform/eventstore/load.ts';
import { fault } from '../../platform/fault.ts';
import { type KeyedCall, REPLAYED, requestOf } from '../../platform/http/keyed-call.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { LimitProblem } from '../../platform/http/rate-limit.ts';
import { jsonContent } from '../../platform/http/respond.ts';
import type { LimitOf, ReplyOf, Route } from '../../platform/http/route.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import {
  budgetHeaders,
  budgetResetsAt,
  countWrite,
  exhaustedBudgetHeaders,
  WRITES_PER_DAY,
  writesToday,
} from '../../platform/limits/write-budget.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import { credentialHolder } from '../../projections/credentials/credentials.ts';
import { MEMBERSHIP_DISABLED } from '../../projections/membership/ended-verifiers.ts';
import { findMember } from '../../projections/membership/members.ts';
import { readVerifiers, renewVerifier } from '../../projections/membership/verifiers.ts';
import { RECEIPT_SPACES } from '../receipt-spaces.ts';

/** What the commands of members need. */
export interface MemberDeps {
  store: EventStore;
  keys: KeyRing;
  config: Pick<Config, 'limitWritesPerDay'>;
}

/** The refusals of every command; a route that uses the write budget also has that of the budget. */
type MemberRefusal<R extends Route> =
  | 'credential_not_accepted'
  | 'idempotency_conflict'
  | Extract<LimitProblem<LimitOf<R>>, 'write_budget_exhausted'>;

type MemberPolicy<R extends Route> = Policy<MemberRefusal<R>, ReplyOf<R>, null, ReceiptBody>;

/** Checks the bearer again once the member is locked, since it may have been revoked meanwhile. */
export function byBearer<R extends Route>(
  deps: MemberDeps,
  call: KeyedCall<R> & { principal: PrincipalOf<'credential'> },
): MemberPolicy<R> {
  const { memberId, credentialId } = call.principal;
  return byMember(deps, call, memberId, {
    load: credentialHolder(credentialId),
    prove: ([holder]) =>
      fault('no-second-proof') || holder?.member_id === memberId
        ? null
        : refuse('credential_not_accepted'),
  });
}

/** Proves the sign-in key. An unknown member id costs the same work, to hide the cause. */
export function bySignInKey<R extends Route>(
  deps: MemberDeps,
  call: KeyedCall<R> & { body: { member_id: string; sign_in_key: string } },
): MemberPolicy<R> {
  const { keys } = deps;
  const { member_id: memberId, sign_in_key: signInKey } = call.body;
  const owner = memberOwner(memberId);
  return byMember(deps, call, memberId, {
    load: { members: findMember(memberId), verifiers: readVerifiers(owner, 'sign-in') },
    prove({ members: [member], verifiers: [verifier] }) {
      const proven = keys.verify('sign-in', memberId, signInKey, verifier);
      if (!proven || member?.state !== 'active') return refuse('credential_not_accepted');
      return member.disabled ? refuse('credential_not_accepted', MEMBERSHIP_DISABLED) : null;
    },
    rows: ({ verifiers: [verifier] }) => renewVerifier(keys, owner, signInKey, verifier),
  });
}

/** How the caller proves to be the member. */
interface Proof<Known> {
  load: Load;
  prove(rows: Known): Refusal<'credential_not_accepted'> | null;
  /** Rows to write with an accepted command. */
  rows?(rows: Known): readonly Sql[];
}

/**
 * A mutation under `/api/v1`: the member acts, once per `Idempotency-Key`, within the write budget of the
 * day. The reply contains a receipt.
 */
function byMember<R extends Route, const Of extends Load>(
  { keys, config }: MemberDeps,
  call: KeyedCall<R>,
  memberId: string,
  proof: Proof<Rows<Of>> & { load: Of },
): MemberPolicy<R> {
  const { operation, request } = call;
  const limit = config.limitWritesPerDay;
  const counted = call.route.limits?.includes(WRITES_PER_DAY) === true;
  const headersAfter = (used: number, now: Date) =>
    counted ? budgetHeaders(limit, used, now) : {};

  return definePolicy({
    actor: { type: 'member', id: memberId },
    lock: [memberId],
    load: { proof: proof.load, budgets: writesToday(memberId) },
    prove: (rows) => proof.prove(rows.proof as Rows<Of>),
    request: requestIn(RECEIPT_SPACES.api, {
      owner: memberOwner(memberId),
      keys,
      ...requestOf(call),
    }),
    // The stored reply, byte for byte.
    repeat: ({ status, body }, { budgets: [budget] }, now) =>
      ({
        status,
        content: jsonContent(body),
        headers: { ...headersAfter(budget?.used ?? 0, now), ...REPLAYED },
      }) as unknown as ReplyOf<R>,
    charge(rows, { changes, now, bodyHash }) {
      const used = rows.budgets[0]?.used ?? 0;
      if (changes && counted && used >= limit)
        return {
          ...refuse('write_budget_exhausted' as MemberRefusal<R>, {
            limit,
            used,
            resets_at: budgetResetsAt(now),
          }),
          headers: exhaustedBudgetHeaders(limit),
        };
      return {
        rows: [
          ...(proof.rows?.(rows.proof as Rows<Of>) ?? []),
          ...(counted ? [countWrite(memberId, now)] : []),
        ],
        give: (events) => ({
          operation_id: request.idempotencyKey ?? '',
          operation,
          member_id: memberId,
          recorded_at: now.toISOString(),
          body_hash: bodyHash(),
          event_ids: events.map((event) => event.event_id),
        }),
        headers: headersAfter(changes ? used + 1 : used, now),
      };
    },
  });
}
