import { type RecoveryRefusal, recover } from '../../domain/membership/member.ts';
import { memberOwner } from '../../domain/owners.ts';
import {
  type Command,
  defineCommand,
  definePolicy,
  handle,
  type Policy,
} from '../../platform/eventstore/handle.ts';
import { requestIn } from '../../platform/eventstore/idempotency.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { findMember } from '../../projections/membership/members.ts';
import {
  readVerifiers,
  type VerifierRow,
  writeVerifier,
} from '../../projections/membership/verifiers.ts';
import { joinEndings } from '../account-closure.ts';
import { RECEIPT_SPACES } from '../receipt-spaces.ts';
import type { MembershipDeps } from './deps.ts';
import { memberStreams } from './register.ts';

interface Recovery {
  id: string;
  recovery_key: string;
  new_sign_in_key: string;
  new_recovery_key: string;
  operation_id: string;
}

interface Recovered {
  status: 200;
  body: { status: 'recovered'; id: string };
}

/** Replaces both keys, and ends every session, credential and passkey in the same transaction. */
export function recoverMember(
  deps: Pick<MembershipDeps, 'store' | 'keys' | 'recoveryEndings'>,
  body: Recovery,
): Promise<Recovered | Refusal<'credentials_not_accepted' | RecoveryRefusal | 'invalid_request'>> {
  return handle(deps.store, byRecoveryKey(deps.keys, body), recoverCommand(deps, body));
}

interface Proven {
  recovery: readonly VerifierRow[];
}

/** Proves the recovery key. A recovery replaces that key, so an exact repeat needs no proof. */
function byRecoveryKey(
  keys: KeyRing,
  body: Recovery,
): Policy<'credentials_not_accepted' | 'invalid_request', Recovered, Proven> {
  const { id, operation_id } = body;
  const owner = memberOwner(id);
  return definePolicy({
    actor: { type: 'member', id },
    lock: [id],
    load: { members: findMember(id), recovery: readVerifiers(owner, 'recovery') },
    prove({ members: [known], recovery }, isRepeat) {
      const proven = keys.verify('recovery', id, body.recovery_key, recovery[0]);
      return known?.state === 'active' && (proven || isRepeat())
        ? { recovery }
        : refuse('credentials_not_accepted');
    },
    request: requestIn(RECEIPT_SPACES.recover, {
      owner,
      key: operation_id,
      operation: 'membership.recover',
      route: 'POST /api/membership/recover',
      sent: { ...body },
      keys,
    }),
    repeat: (stored) => stored as Recovered,
  });
}

function recoverCommand(
  { keys, recoveryEndings }: Pick<MembershipDeps, 'keys' | 'recoveryEndings'>,
  body: Recovery,
): Command<Recovered, RecoveryRefusal | 'invalid_request', Proven> {
  const { id, operation_id } = body;
  const owner = memberOwner(id);
  const endings = joinEndings(recoveryEndings, id, keys, { type: 'member', id });
  return defineCommand({
    find: endings.find,
    load: {
      signIn: readVerifiers(owner, 'sign-in'),
      stream: memberStreams.load(owner, id),
      endings: endings.load,
    },
    decide({ signIn, stream, endings: ending }, now, { recovery }: Proven) {
      const issues = keysInUse(keys, [...signIn, ...recovery], body);
      if (issues.length > 0) return refuse('invalid_request', { issues });

      const decided = stream.append(
        recover(stream.state, { type: 'RecoverMember', operationId: operation_id }),
      );
      if (isRefusal(decided)) return decided;
      const ended = endings.close(ending, now);
      return {
        appends: [...decided.appends, ...ended.appends],
        rows: [
          ...ended.rows,
          writeVerifier(owner, 'sign-in', id, keys.mac('sign-in', id, body.new_sign_in_key)),
          writeVerifier(owner, 'recovery', id, keys.mac('recovery', id, body.new_recovery_key)),
        ],
        reply: () => ({
          status: 200 as const,
          body: { status: 'recovered' as const, id },
        }),
      };
    },
  });
}

/** Returns an issue for each new key that equals one of the two current keys. */
function keysInUse(keys: KeyRing, verifiers: readonly VerifierRow[], body: Recovery) {
  return (['new_sign_in_key', 'new_recovery_key'] as const).flatMap((path) =>
    verifiers.some((stored) => keys.verify(stored.purpose, body.id, body[path], stored))
      ? [{ path, message: 'must differ from both present keys' }]
      : [],
  );
}
