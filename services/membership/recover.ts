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
import { activeCredentials } from '../../projections/credentials/credentials.ts';
import { endCredentialVerifiers } from '../../projections/membership/ended-verifiers.ts';
import { findMember } from '../../projections/membership/members.ts';
import {
  readVerifiers,
  type VerifierRow,
  writeVerifier,
} from '../../projections/membership/verifiers.ts';
import { dropPasskeys, endPasskey, passkeysOf } from '../passkeys/passkeys.ts';
import { RECEIPT_SPACES } from '../receipt-spaces.ts';
import type { MembershipDeps } from './deps.ts';
import { endSession } from './login.ts';
import { memberStreams } from './register.ts';
import { endSessions, liveSessions } from './sessions.ts';

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

/** Replaces both keys and ends every session, credential and passkey, in one transaction. */
export function recoverMember(
  { store, keys }: MembershipDeps,
  body: Recovery,
): Promise<Recovered | Refusal<'credentials_not_accepted' | RecoveryRefusal | 'invalid_request'>> {
  return handle(store, byRecoveryKey(keys, body), recoverCommand(keys, body));
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
  keys: KeyRing,
  body: Recovery,
): Command<Recovered, RecoveryRefusal | 'invalid_request', Proven> {
  const { id, operation_id } = body;
  const owner = memberOwner(id);
  return defineCommand({
    load: {
      signIn: readVerifiers(owner, 'sign-in'),
      stream: memberStreams.load(owner, id),
      sessions: liveSessions(id),
      credentials: activeCredentials(id),
      bearers: readVerifiers(owner, 'credential'),
      passkeys: passkeysOf(id),
    },
    decide(
      { signIn, stream, sessions, credentials, bearers, passkeys },
      now,
      { recovery }: Proven,
    ) {
      const issues = keysInUse(keys, [...signIn, ...recovery], body);
      if (issues.length > 0) return refuse('invalid_request', { issues });

      const decided = stream.append(
        recover(stream.state, { type: 'RecoverMember', operationId: operation_id }),
      );
      if (isRefusal(decided)) return decided;
      return {
        appends: [
          ...decided.appends,
          ...sessions.map(({ session_id }) => endSession(id, session_id, 'recovery')),
          ...credentials.map(({ credential_id }) => ({
            owner,
            stream: `credential-${credential_id}`,
            version: 1,
            events: [
              {
                type: 'CredentialRevoked',
                data: { credential_id, reason: 'recovery' },
                personal: null,
              },
            ],
          })),
          ...passkeys.map(({ passkey_id }) => endPasskey(id, passkey_id, 'recovery')),
        ],
        rows: [
          dropPasskeys(passkeys.map(({ passkey_id }) => passkey_id)),
          endSessions(
            sessions.map(({ session_id }) => session_id),
            now,
          ),
          ...endCredentialVerifiers(
            keys,
            id,
            bearers,
            credentials.map(({ credential_id }) => ({
              credentialId: credential_id,
              reason: 'revoked',
              at: now,
            })),
          ),
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
