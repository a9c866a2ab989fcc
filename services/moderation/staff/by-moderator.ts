import { moderatorOwner } from '../../../domain/owners.ts';
import type { Role } from '../../../domain/permissions.ts';
import { definePolicy, type Policy } from '../../../platform/eventstore/handle.ts';
import { requestIn } from '../../../platform/eventstore/idempotency.ts';
import {
  type KeyConflict,
  type KeyedCall,
  replayed,
  requestOf,
} from '../../../platform/http/keyed-call.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import type { ReplyOf, Route } from '../../../platform/http/route.ts';
import { refuse } from '../../../platform/refusal.ts';
import { RECEIPT_SPACES } from '../../receipt-spaces.ts';
import { lockModerator, type ModeratorLock } from './lock-moderator.ts';

/** The moderator who issues a command, with the role at that time. */
export interface ActiveModerator {
  moderatorId: string;
  role: Role;
}

/** A moderator's call, as its policy needs it; the `Call` of a handler satisfies it. */
export type ModeratorCall<R extends Route = Route> = KeyedCall<R> & {
  principal: PrincipalOf<'moderator'>;
};

/**
 * A mutation by a moderator: the moderator's row is locked and the credential checked again, since both
 * may have been revoked meanwhile. The call is recognized if it has an `Idempotency-Key`.
 */
export function byModerator<R extends Route, Reply = ReplyOf<R>>(
  call: ModeratorCall<R>,
  lock: ModeratorLock = 'shared',
): Policy<'moderator_required' | KeyConflict<R>, Reply, ActiveModerator> {
  const { principal } = call;
  const { moderatorId } = principal;
  return definePolicy({
    actor: { type: 'moderator', id: moderatorId },
    load: lockModerator(principal, lock),
    prove: ([live]) =>
      live ? { moderatorId, role: live.role } : refuse('moderator_required' as const),
    request: requestIn(RECEIPT_SPACES.moderation, {
      owner: moderatorOwner(moderatorId),
      keys: null,
      ...requestOf(call),
    }),
    repeat: replayed<Reply>,
  });
}
