import { type CredentialRow, unendedCredentials } from '../../projections/credentials.ts';
import type { Closing } from '../closing.ts';
import { revocation } from './revoke.ts';

/** Every credential is revoked: also one past its end that the log does not tell of yet. */
export const credentialsClosing: Closing = {
  load: (memberId) => [unendedCredentials(memberId)],
  close: (memberId, rows) =>
    (rows[0] as unknown as CredentialRow[]).map(({ credential_id }) =>
      revocation(memberId, credential_id, 'deactivated', { type: 'member', id: memberId }),
    ),
};
