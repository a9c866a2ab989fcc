import type { PasskeyEnd } from '../../domain/passkeys/words.ts';
import { defineAccessEnding, defineAccountClosure } from '../account-closure.ts';
import { exportSection } from '../export-section.ts';
import { Passkey } from './contract.ts';
import {
  dropPasskeys,
  endPasskey,
  type PasskeyRow,
  passkeysAfter,
  passkeysOf,
} from './passkeys.ts';

type Ended = readonly { passkey_id: string }[];

const endingPasskeys = (reason: PasskeyEnd) => ({
  load: passkeysOf,
  close: (memberId: string, rows: Ended) =>
    rows.map(({ passkey_id }) => endPasskey(memberId, passkey_id, reason)),
  rows: (_memberId: string, rows: Ended) => [
    dropPasskeys(rows.map(({ passkey_id }) => passkey_id)),
  ],
});

export const passkeysClosure = defineAccountClosure(endingPasskeys('deactivated'));
export const passkeysDisabling = defineAccessEnding(endingPasskeys('disabled'));
export const passkeysRecovery = defineAccessEnding(endingPasskeys('recovery'));

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
