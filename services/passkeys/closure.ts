import type { PasskeyEnd } from '../../domain/passkeys/passkey-end.ts';
import { defineAccountClosure, defineDisablingEnding } from '../membership/account-closure.ts';
import { dropPasskeys, endPasskey, passkeysOf } from './passkeys.ts';

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
export const passkeysDisabling = defineDisablingEnding(endingPasskeys('disabled'));
