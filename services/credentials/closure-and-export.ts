import { memberOwner } from '../../domain/owners.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { Sql } from '../../platform/sql.ts';
import {
  activeCredentials,
  credentialsAfter,
  type ListedCredential,
  unendedCredentials,
} from '../../projections/credentials/credentials.ts';
import { endCredentialVerifiers } from '../../projections/membership/ended-verifiers.ts';
import { readVerifiers } from '../../projections/membership/verifiers.ts';
import { defineAccessEnding, defineAccountClosure } from '../account-closure.ts';
import { exportSection } from '../export-section.ts';
import { Credential } from './contract.ts';
import { revocation } from './credential-stream.ts';
import { credentialBody } from './revoke.ts';

/** Revokes every credential, including expired ones whose expiry is not in the log yet. */
export const credentialsClosure = defineAccountClosure({
  load: unendedCredentials,
  close: (memberId, rows) =>
    rows.flatMap(({ credential_id }) =>
      revocation(memberId, credential_id, 'deactivated', { type: 'member', id: memberId }),
    ),
});

/** Revokes the credentials that `find` reads; their secrets then say for a time that they were revoked. */
const endingCredentials = (
  reason: 'disabled' | 'recovery',
  find: (memberId: string) => Sql<{ credential_id: string }>,
) =>
  defineAccessEnding({
    load: (memberId) => ({
      ending: find(memberId),
      verifiers: readVerifiers(memberOwner(memberId), 'credential'),
    }),
    close: (memberId, { ending }) =>
      ending.flatMap(({ credential_id }) =>
        revocation(memberId, credential_id, reason, SERVICE_ACTOR),
      ),
    rows: (memberId, { ending, verifiers }, now, { keys }) =>
      endCredentialVerifiers(
        keys,
        memberId,
        verifiers,
        ending.map(({ credential_id }) => ({
          credentialId: credential_id,
          reason: 'revoked',
          at: now,
        })),
      ),
  });

export const credentialsDisabling = endingCredentials('disabled', unendedCredentials);
export const credentialsRecovery = endingCredentials('recovery', activeCredentials);

export const credentialsSection = exportSection<ListedCredential>({
  name: 'credentials',
  after: credentialsAfter,
  entry: credentialBody,
  schema: Credential,
});
