import type { Decider, EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import { unixSeconds } from '../../platform/http/schemas.ts';
import { refuse } from '../../platform/refusal.ts';
import { conflict } from '../conflict.ts';
import type { Scope } from '../permissions.ts';
import type * as events from './events.ts';

export type CredentialEvents = (typeof events)[keyof typeof events];

export type CredentialState =
  | { status: 'none' }
  | { status: 'active'; credentialId: string }
  | { status: 'expired' }
  | { status: 'revoked' };

interface ActiveCredential {
  credential_id: string;
  /** Unix seconds. */
  expires_at: number;
}

interface CreateCredential {
  type: 'CreateCredential';
  credentialId: string;
  scopes: readonly Scope[];
  /** Unix seconds. */
  expiresAt: number;
  keyEpoch: number;
  label: string | null;
  now: Date;
  /** `idUsed` and `active` are read while the member is locked. */
  idUsed: boolean;
  active: readonly ActiveCredential[];
  limit: number;
  /**
   * The current credential, on a rotation. The limit does not apply, because the new credential
   * replaces it. The new credential can have the same scopes or fewer.
   */
  replaces: { credentialId: string; scopes: readonly Scope[] } | null;
}

export type CredentialCommand =
  | CreateCredential
  | {
      type: 'RevokeCredential';
      reason: 'rotated' | 'revoked' | 'recovery' | 'deactivated' | 'disabled';
    };

export type CredentialRefusal = 'invalid_request' | 'scope_escalation' | 'state_conflict';

const MIN_SECONDS = 60;
const MAX_SECONDS = 86_400;

/** A credential is created once, under an id that was never used before, and ends once. */
export const credential: Decider<
  CredentialState,
  CredentialCommand,
  CredentialEvents,
  CredentialRefusal
> = {
  initial: { status: 'none' },
  decide: (state, command) =>
    command.type === 'CreateCredential' ? create(state, command) : revoke(state, command.reason),
  evolve: (_, event) => {
    switch (event.type) {
      case 'CredentialCreated':
        return { status: 'active', credentialId: event.data.credential_id };
      case 'CredentialExpired':
        return { status: 'expired' };
      case 'CredentialRevoked':
        return { status: 'revoked' };
    }
  },
};

function create(
  state: CredentialState,
  command: CreateCredential,
): EventsOrRefusal<CredentialEvents, CredentialRefusal> {
  const { credentialId, expiresAt, label, replaces, scopes } = command;
  const lasts = expiresAt - unixSeconds(command.now);
  if (lasts < MIN_SECONDS || lasts > MAX_SECONDS)
    return refuse('invalid_request', {
      issues: [{ path: 'expires_at', message: 'must be 60 seconds to 24 hours from now' }],
    });
  const beyond = replaces ? scopes.filter((scope) => !replaces.scopes.includes(scope)) : [];
  if (beyond.length > 0) return refuse('scope_escalation', { scopes: beyond });
  if (state.status !== 'none' || command.idUsed) return conflict('credential_id_used');
  if (!replaces && command.active.length >= command.limit)
    return conflict('active_credential_limit', {
      limit: command.limit,
      active_credentials: command.active,
    });
  return [
    {
      type: 'CredentialCreated',
      data: {
        credential_id: credentialId,
        scopes: [...scopes].sort(),
        expires_at: new Date(expiresAt * 1000).toISOString(),
        key_epoch: command.keyEpoch,
        replaces: replaces?.credentialId ?? null,
      },
      personal: label === null ? null : { label },
    },
  ];
}

/** Returns no event if the credential has already ended. */
function revoke(
  state: CredentialState,
  reason: Extract<CredentialCommand, { type: 'RevokeCredential' }>['reason'],
): EventsOrRefusal<CredentialEvents, CredentialRefusal> {
  if (state.status === 'none') return conflict('credential_unavailable');
  if (state.status !== 'active') return [];
  return [
    {
      type: 'CredentialRevoked',
      data: { credential_id: state.credentialId, reason },
      personal: null,
    },
  ];
}
