import { exportSection } from '../membership/export-section.ts';
import { Passkey } from './contract.ts';
import { type PasskeyRow, passkeysAfter } from './passkeys.ts';

export const passkeyBody = ({ passkey_id, name, added_at, last_used_on }: PasskeyRow) => ({
  id: passkey_id,
  name,
  added_at: added_at.toISOString(),
  last_used_on,
});

export const passkeysSection = exportSection<PasskeyRow>({
  name: 'passkeys',
  after: passkeysAfter,
  entry: passkeyBody,
  schema: Passkey,
});
