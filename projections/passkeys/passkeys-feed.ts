import * as passkeys from '../../domain/passkeys/events.ts';
import { defineFeedEntries } from '../feed-entry.ts';

const passkey = (id: string) => ({ type: 'passkey', id });

export const passkeysFeed = defineFeedEntries(passkeys, {
  PasskeyAdded: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'passkey.added',
    subject: passkey(data.passkey_id),
    data: {},
  }),
  PasskeyRemoved: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'passkey.removed',
    subject: passkey(data.passkey_id),
    data: { reason: data.reason },
  }),
});
