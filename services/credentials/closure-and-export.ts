import { memberOwner } from '../../domain/owners.ts';
import {
  credentialsAfter,
  type ListedCredential,
  unendedCredentials,
} from '../../projections/credentials/credentials.ts';
import { endCredentialVerifiers } from '../../projections/membership/ended-verifiers.ts';
import { readVerifiers } from '../../projections/membership/verifiers.ts';
import { defineAccountClosure, defineDisablingEnding } from '../membership/account-closure.ts';
import { exportSection } from '../membership/export-section.ts';
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

/** The same when the membership is disabled; the secrets then say for a time that they were revoked. */
export const credentialsDisabling = defineDisablingEnding({
  load: (memberId) => ({
    unended: unendedCredentials(memberId),
    verifiers: readVerifiers(memberOwner(memberId), 'credential'),
  }),
  close: (memberId, { unended }) =>
    unended.flatMap(({ credential_id }) =>
      revocation(memberId, credential_id, 'disabled', { type: 'service' }),
    ),
  rows: (memberId, { unended, verifiers }, now, { keys }) =>
    endCredentialVerifiers(
      keys,
      memberId,
      verifiers,
      unended.map(({ credential_id }) => ({
        credentialId: credential_id,
        reason: 'revoked',
        at: now,
      })),
    ),
});

export const credentialsSection = exportSection<ListedCredential>({
  name: 'credentials',
  after: credentialsAfter,
  entry: credentialBody,
  schema: Credential,
});
