import { defineCommand } from '../../platform/eventstore/handle.ts';
import { refuse } from '../../platform/refusal.ts';
import { passkeyBody } from './closure-and-export.ts';
import { dropPasskeys, endPasskey, passkeysOf, renamePasskey } from './passkeys.ts';

/** Another member's passkey and an unknown id get the same refusal. */
const noPasskey = () =>
  refuse('not_found', { message: 'Not found: you have no passkey with this id.' });

/** Renames a passkey of a member. Names are not in the log. */
export const rename = (memberId: string, passkeyId: string, name: string) =>
  defineCommand({
    load: { passkeys: passkeysOf(memberId) },
    decide({ passkeys }) {
      const row = passkeys.find(({ passkey_id }) => passkey_id === passkeyId);
      if (!row) return noPasskey();
      return {
        appends: [],
        rows: [renamePasskey(memberId, passkeyId, name)],
        changesRows: true,
        reply: () => ({
          status: 200 as const,
          body: { status: 'renamed' as const, passkey: passkeyBody({ ...row, name }) },
        }),
      };
    },
  });

/** Removes a passkey of a member. */
export const remove = (memberId: string, passkeyId: string) =>
  defineCommand({
    load: { passkeys: passkeysOf(memberId) },
    decide({ passkeys }) {
      const row = passkeys.find(({ passkey_id }) => passkey_id === passkeyId);
      if (!row) return noPasskey();
      return {
        appends: [endPasskey(memberId, passkeyId, 'removed')],
        rows: [dropPasskeys([passkeyId])],
        reply: () => ({
          status: 200 as const,
          body: { status: 'removed' as const, passkey: passkeyBody(row) },
        }),
      };
    },
  });
