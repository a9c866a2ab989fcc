import { unendedCredentials } from '../../projections/credentials/credentials.ts';
import { defineAccountClosure } from '../membership/account-closure.ts';
import { revocation } from './revoke.ts';

/** Revokes every credential, including expired ones whose expiry is not in the log yet. */
export const credentialsClosure = defineAccountClosure({
  load: unendedCredentials,
  close: (memberId, rows) =>
    rows.map(({ credential_id }) =>
      revocation(memberId, credential_id, 'deactivated', { type: 'member', id: memberId }),
    ),
});
