import { unendedCredentials } from '../../projections/credentials/credentials.ts';
import { defineClosing } from '../membership/account-closure.ts';
import { revocation } from './revoke.ts';

/** Every credential is revoked: also one past its end that the log does not tell of yet. */
export const credentialsClosing = defineClosing({
  load: unendedCredentials,
  close: (memberId, rows) =>
    rows.map(({ credential_id }) =>
      revocation(memberId, credential_id, 'deactivated', { type: 'member', id: memberId }),
    ),
});
