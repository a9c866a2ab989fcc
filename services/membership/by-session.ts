import { memberOwner } from '../../domain/owners.ts';
import { definePolicy, type Policy } from '../../platform/eventstore/handle.ts';
import { requestIn } from '../../platform/eventstore/idempotency.ts';
import { type KeyedCall, replayed, requestOf } from '../../platform/http/keyed-call.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { ReplyOf, Route } from '../../platform/http/route.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { refuse } from '../../platform/refusal.ts';
import { RECEIPT_SPACES } from '../receipt-spaces.ts';
import { findLiveSession } from './sessions.ts';

/**
 * The member of a session, which is checked again once its member is locked, since it may have ended
 * meanwhile. Repeats are not recognized.
 */
export function byLiveSession<Reply>({
  memberId,
  sessionId,
}: PrincipalOf<'session'>): Policy<'session_required', Reply> {
  return definePolicy({
    actor: { type: 'member', id: memberId },
    lock: [memberId],
    load: findLiveSession(sessionId),
    prove: ([live]) => (live ? null : refuse('session_required')),
  });
}

/** A mutation by a page: a live session. The call is recognized if it has an `Idempotency-Key`. */
export function bySession<R extends Route>(
  keys: KeyRing,
  call: KeyedCall<R> & { principal: PrincipalOf<'session'> },
): Policy<'session_required' | 'idempotency_conflict', ReplyOf<R>> {
  const { memberId } = call.principal;
  return {
    ...byLiveSession(call.principal),
    request: requestIn(RECEIPT_SPACES.session, {
      owner: memberOwner(memberId),
      keys,
      ...requestOf(call),
    }),
    repeat: replayed<ReplyOf<R>>,
  };
}
