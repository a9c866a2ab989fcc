import { member, type RecoveryRefusal, recover } from '../../domain/membership/member.ts';
import { readStream, streamVersion } from '../../platform/eventstore/append.ts';
import { replay } from '../../platform/eventstore/decider.ts';
import type { Command } from '../../platform/eventstore/event-store.ts';
import {
  defineIdempotentCommand,
  idempotentCommand,
} from '../../platform/eventstore/idempotency.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { endCredentialVerifiers } from '../../platform/keys/ended-verifiers.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { readVerifiers, type VerifierRow, writeVerifier } from '../../platform/keys/verifiers.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { activeCredentials } from '../../projections/credentials/credentials.ts';
import { findMember } from '../../projections/membership/members.ts';
import type { MembershipDeps } from './deps.ts';
import { endSession } from './login.ts';
import { endSessions, liveSessions } from './sessions.ts';

interface Recovery {
  id: string;
  recovery_key: string;
  new_sign_in_key: string;
  new_recovery_key: string;
  operation_id: string;
}

export interface Recovered {
  status: 'recovered';
  id: string;
}

/** Replaces both keys and ends every session and credential, in one transaction. */
export function recoverCommand(
  { keys }: MembershipDeps,
  body: Recovery,
): Command<Recovered, RecoveryRefusal | 'invalid_request'> {
  const { id, operation_id } = body;
  const owner = memberOwner(id);
  const stream = `member-${id}`;
  const command = defineIdempotentCommand({
    lock: [id],
    load: {
      members: findMember(id),
      recovery: readVerifiers(owner, 'recovery'),
      signIn: readVerifiers(owner, 'sign-in'),
      events: readStream(owner, stream),
      sessions: liveSessions(id),
      credentials: activeCredentials(id),
      bearers: readVerifiers(owner, 'credential'),
    },
    // A recovery replaces the key that proves it, so an exact repeat needs no proof.
    guard({ rows: { members, recovery } }, isRepeat) {
      const proven = keys.verify('recovery', id, body.recovery_key, recovery[0]);
      return members[0]?.state === 'active' && (proven || isRepeat())
        ? null
        : refuse('credentials_not_accepted');
    },
    toReply: (recovered: Recovered) => ({ status: 200, body: recovered }),
    decide({ rows, now }) {
      const { recovery, signIn, events, sessions, credentials, bearers } = rows;
      const issues = keysInUse(keys, [...signIn, ...recovery], body);
      if (issues.length > 0) return refuse('invalid_request', { issues });

      const decided = recover(replay(member, events), {
        type: 'RecoverMember',
        operationId: operation_id,
      });
      if (isRefusal(decided)) return decided;
      const actor = { type: 'member' as const, id };
      const answer: Recovered = { status: 'recovered', id };
      return {
        answer,
        appends: [
          { owner, stream, version: streamVersion(events), actor, events: decided },
          ...sessions.map(({ session_id }) => endSession(id, session_id, 'recovery')),
          ...credentials.map(({ credential_id }) => ({
            owner,
            stream: `credential-${credential_id}`,
            version: 1,
            actor,
            events: [
              {
                type: 'CredentialRevoked',
                data: { credential_id, reason: 'recovery' },
                personal: null,
              },
            ],
          })),
        ],
        rows: [
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
      };
    },
  });
  return idempotentCommand(
    {
      owner,
      space: 'recover',
      key: operation_id,
      operation: 'membership.recover',
      route: 'POST /api/membership/recover',
      sent: { ...body },
      keys,
    },
    command,
  );
}

/** Returns an issue for each new key that equals one of the two current keys. */
function keysInUse(keys: KeyRing, verifiers: readonly VerifierRow[], body: Recovery) {
  return (['new_sign_in_key', 'new_recovery_key'] as const).flatMap((path) =>
    verifiers.some((stored) => keys.verify(stored.purpose, body.id, body[path], stored))
      ? [{ path, message: 'must differ from both present keys' }]
      : [],
  );
}
