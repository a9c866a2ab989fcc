import { memberOwner } from '../../domain/owners.ts';
import type { Scope } from '../../domain/permissions.ts';
import type { Config } from '../../platform/config.ts';
import { handle, type Policy } from '../../platform/eventstore/handle.ts';
import { type ReceiptBody, unixSeconds } from '../../platform/http/schemas.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { activeCredentials, findCredential } from '../../projections/credentials/credentials.ts';
import { endCredentialVerifiers } from '../../projections/membership/ended-verifiers.ts';
import { findMember } from '../../projections/membership/members.ts';
import { readVerifiers, writeVerifier } from '../../projections/membership/verifiers.ts';
import { credentialOwner } from './authenticate.ts';
import type { MemberDeps } from './by-bearer.ts';
import type { CredentialBody } from './contract.ts';
import { credentialStreams, revocation } from './credential-stream.ts';

interface CreateDeps extends MemberDeps {
  config: MemberDeps['config'] & Pick<Config, 'limitActiveCredentials'>;
}

export interface NewCredential {
  credential_id: string;
  credential_secret: string;
  scopes: readonly Scope[];
  expires_at: number;
  label?: string | undefined;
}

const SECRET_IS_KEY = { path: 'credential_secret', message: 'must differ from both keys' };

interface Created {
  credential: CredentialBody;
  receipt: ReceiptBody;
}

/**
 * Creates a credential. On a rotation (`replaces`), also revokes the credential it replaces, whose label
 * it keeps unless the request has another one.
 */
export function createCredential<Code extends string, Reply>(
  { store, keys, config }: CreateDeps,
  policy: Policy<Code, Reply, null, ReceiptBody>,
  memberId: string,
  body: NewCredential,
  replaces: {
    credentialId: string;
    scopes: readonly Scope[];
    keyEpoch: number;
    label: string | null;
  } | null,
  reply: (created: Created) => NoInfer<Reply>,
) {
  const id = body.credential_id;
  const owner = memberOwner(memberId);
  const label = body.label ?? replaces?.label ?? null;
  return handle(store, policy, {
    load: {
      used: findCredential(id),
      signIn: readVerifiers(owner, 'sign-in'),
      recovery: readVerifiers(owner, 'recovery'),
      bearers: replaces ? readVerifiers(owner, 'credential') : null,
      // Rotation replaces a credential, so the limit does not apply; the bearer was already checked
      // against the member's key epoch.
      members: replaces ? null : findMember(memberId),
      active: replaces ? null : activeCredentials(memberId),
    },
    decide({ used, active, signIn, recovery, bearers, members: [member] }, now) {
      // The secret travels with every request, and a key can make any credential.
      if (
        [...signIn, ...recovery].some((stored) =>
          keys.verify(stored.purpose, memberId, body.credential_secret, stored),
        )
      )
        return refuse('invalid_request', { issues: [SECRET_IS_KEY] });
      // An id without a row has no stream. The unique index on version 1 enforces this as well.
      const created = credentialStreams.create(owner, id).decide({
        type: 'CreateCredential',
        credentialId: id,
        scopes: body.scopes,
        expiresAt: body.expires_at,
        keyEpoch: replaces?.keyEpoch ?? member?.key_epoch ?? 0,
        label,
        now,
        idUsed: used.length > 0,
        active: active.map(({ credential_id, expires_at }) => ({
          credential_id,
          expires_at: unixSeconds(expires_at),
        })),
        limit: config.limitActiveCredentials,
        replaces,
      });
      if (isRefusal(created)) return created;
      const secret = keys.mac('credential', credentialOwner(memberId, id), body.credential_secret);
      return {
        appends: [
          ...(replaces ? revocation(memberId, replaces.credentialId, 'rotated', policy.actor) : []),
          ...created.appends,
        ],
        rows: [
          writeVerifier(owner, 'credential', id, secret),
          ...(replaces
            ? endCredentialVerifiers(keys, memberId, bearers, [
                { credentialId: replaces.credentialId, reason: 'revoked', at: now },
              ])
            : []),
        ],
        reply: (receipt) =>
          reply({
            receipt,
            credential: {
              credential_id: id,
              member_id: memberId,
              ...(label === null ? {} : { label }),
              scopes: [...body.scopes].sort(),
              state: 'active',
              created_at: now.toISOString(),
              expires_at: body.expires_at,
            },
          }),
      };
    },
  });
}
