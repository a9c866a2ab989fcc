import { memberOwner } from '../../domain/owners.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import {
  type Command,
  defineCommand,
  handle,
  NOTHING_TO_DO,
} from '../../platform/eventstore/handle.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { query } from '../../platform/postgres/query.ts';
import {
  type CredentialRow,
  findCredential,
  overdueCredentials,
} from '../../projections/credentials/credentials.ts';
import { endCredentialVerifiers } from '../../projections/membership/ended-verifiers.ts';
import { readVerifiers } from '../../projections/membership/verifiers.ts';
import { forEachInBatches } from '../running/batches.ts';

type Overdue = Pick<CredentialRow, 'credential_id' | 'member_id'>;

interface Deps {
  store: EventStore;
  keys: KeyRing;
}

/** Records the expiry of every overdue credential in the log; returns how many it recorded. */
export function expireCredentials({ store, keys }: Deps): Promise<number> {
  return forEachInBatches(
    (limit) => query(store.pool, overdueCredentials(limit)),
    (row) => handle(store, SERVICE_ACTOR, expireCommand(keys, row)),
  );
}

function expireCommand(keys: KeyRing, { credential_id, member_id }: Overdue): Command<boolean> {
  return defineCommand({
    lock: [member_id],
    load: {
      credentials: findCredential(credential_id),
      verifiers: readVerifiers(memberOwner(member_id), 'credential'),
    },
    decide({ credentials: [row], verifiers }) {
      if (row?.state !== 'active' || row.unexpired) return NOTHING_TO_DO;
      return {
        appends: [
          {
            owner: memberOwner(member_id),
            stream: `credential-${credential_id}`,
            version: 1,
            events: [{ type: 'CredentialExpired', data: { credential_id }, personal: null }],
          },
        ],
        rows: endCredentialVerifiers(keys, member_id, verifiers, [
          { credentialId: credential_id, reason: 'expired', at: row.expires_at },
        ]),
        reply: () => true,
      };
    },
  });
}
