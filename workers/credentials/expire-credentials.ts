import {
  type Command,
  defineCommand,
  type EventStore,
} from '../../platform/eventstore/event-store.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { dropCredentialVerifiers } from '../../platform/keys/verifiers.ts';
import { query } from '../../platform/postgres/query.ts';
import {
  type CredentialRow,
  findCredential,
  overdueCredentials,
} from '../../projections/credentials/credentials.ts';
import { forEachInBatches } from '../batches.ts';

type Overdue = Pick<CredentialRow, 'credential_id' | 'member_id'>;

/** Records the expiry of every overdue credential in the log; returns how many it recorded. */
export function expireCredentials({ store }: { store: EventStore }): Promise<number> {
  return forEachInBatches(
    (limit) => query(store.pool, overdueCredentials(limit)),
    async (row) => (await store.execute(expireCommand(row))) === true,
  );
}

function expireCommand({ credential_id, member_id }: Overdue): Command<boolean> {
  return defineCommand({
    lock: [member_id],
    load: findCredential(credential_id),
    decide({ rows: [row] }) {
      if (row?.state !== 'active' || row.unexpired) return { unchanged: false };
      return {
        answer: true,
        appends: [
          {
            owner: memberOwner(member_id),
            stream: `credential-${credential_id}`,
            version: 1,
            actor: { type: 'service' },
            events: [{ type: 'CredentialExpired', data: { credential_id }, personal: null }],
          },
        ],
        rows: dropCredentialVerifiers(memberOwner(member_id), [credential_id]),
      };
    },
  });
}
