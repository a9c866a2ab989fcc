import type pg from 'pg';
import { type BegunEpoch, beginEpoch } from '../../platform/eventstore/log-epochs.ts';
import { dropEveryCredentialVerifier } from '../../projections/membership/verifiers.ts';
import { connectedProcesses } from '../../services/connected-processes.ts';
import { expireSessions } from '../../services/membership/sessions.ts';
import { dropEveryModeratorSession } from '../../services/moderation/staff/sessions.ts';
import { dropEveryPasskey } from '../../services/passkeys/passkeys.ts';

/** Throws while processes of the service are connected: they would go on as if nothing was lost. */
export async function refuseWhileConnected(client: pg.ClientBase): Promise<void> {
  const connected = await connectedProcesses(client);
  if (connected.length > 0)
    throw new Error(`Stop all processes first: ${connected.join(', ')} connected to the database`);
}

/**
 * Begins an epoch of the log in the transaction of the caller, and ends all sessions, credentials and passkeys:
 * some of them had ended in the part of the log that is lost.
 */
export async function beginEpochOfLog(client: pg.ClientBase, reason: string): Promise<BegunEpoch> {
  const begun = await beginEpoch(client, reason);
  const statements = [
    expireSessions(),
    dropEveryModeratorSession(),
    dropEveryCredentialVerifier(),
    dropEveryPasskey(),
  ];
  for (const statement of statements) await client.query(statement);
  return begun;
}

/** What the operator has to know about an epoch that has begun. */
export function describeEpoch({ epoch, position, recorded_at: at }: BegunEpoch): string {
  const last = at
    ? `position ${position}, recorded at ${at.toISOString()}`
    : 'none: the log is empty';
  return `Epoch ${epoch} of the log has begun. The last event that was kept: ${last}
All sessions, credentials and passkeys have ended; clients sign in again and are told where to continue.
What happened after that event is lost, also recoveries (the keys before them are valid again), rotations of
moderators' tokens, and deletions of accounts. Erasures from before are completed by the worker.
`;
}
