import { moderatorOwner } from '../../../domain/owners.ts';
import type { Role } from '../../../domain/permissions.ts';
import { readStream, streamVersion } from '../../../platform/eventstore/append.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import { type Command, defineCommand, handle } from '../../../platform/eventstore/handle.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import { newToken } from '../../../platform/keys/token.ts';
import { query } from '../../../platform/postgres/query.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import type { Sql } from '../../../platform/sql.ts';
import { dropVerifiers, writeVerifier } from '../../../projections/membership/verifiers.ts';
import { findModerators, lockModerator } from '../../../projections/moderation/moderators.ts';
import { moderatorToken } from './authenticate.ts';
import { dropModeratorSessions, releaseAllLeases } from './sessions.ts';

export interface ModeratorDeps {
  store: EventStore;
  keys: KeyRing;
}

/** A moderator with a new token. */
export interface AddedModerator {
  id: string;
  /** Shown once; the database keeps only its verifier. */
  token: string;
}

const SERVICE = { type: 'service' as const };

/** Adds a moderator; refuses with `name_taken` if an active moderator has the name. */
export async function addModerator(
  { store, keys }: ModeratorDeps,
  name: string,
  role: Role,
): Promise<AddedModerator | Refusal<'name_taken'>> {
  const token = newToken();
  const { id } = token;
  const owner = moderatorOwner(id);
  return handle(store, SERVICE, {
    load: { taken: findModerators(name) },
    decide({ taken }) {
      if (taken.length > 0) return refuse('name_taken');
      const added = {
        type: 'ModeratorAdded',
        data: { moderator_id: id, role },
        personal: { name },
      };
      return {
        appends: [{ owner, stream: `moderator-${id}`, version: 0, events: [added] }],
        rows: [writeVerifier(owner, 'moderator', id, keys.mac('moderator', id, token.secret))],
        reply: () => ({ id, token: moderatorToken(token) }),
      };
    },
  });
}

/** Revokes a moderator, found by name or id, together with the token, sessions and leases. */
export async function revokeModerator(
  { store }: Pick<ModeratorDeps, 'store'>,
  nameOrId: string,
): Promise<{ id: string } | Refusal<'not_found'>> {
  const id = await activeModerator(store, nameOrId);
  if (!id) return refuse('not_found');
  const revocation = changeCommand(id, 'ModeratorRevoked', { id }, [
    dropVerifiers(moderatorOwner(id)),
    dropModeratorSessions(id),
    releaseAllLeases(id),
  ]);
  return handle(store, SERVICE, revocation);
}

/** Gives a moderator a new token; ends the old token, the sessions and the leases. */
export async function rotateModerator(
  { store, keys }: ModeratorDeps,
  nameOrId: string,
): Promise<AddedModerator | Refusal<'not_found'>> {
  const id = await activeModerator(store, nameOrId);
  if (!id) return refuse('not_found');
  const token = newToken(id);
  const added = { id, token: moderatorToken(token) };
  const rotation = changeCommand(id, 'ModeratorTokenRotated', added, [
    writeVerifier(moderatorOwner(id), 'moderator', id, keys.mac('moderator', id, token.secret)),
    dropModeratorSessions(id),
    releaseAllLeases(id),
  ]);
  return handle(store, SERVICE, rotation);
}

async function activeModerator(store: EventStore, nameOrId: string): Promise<string | undefined> {
  const [known] = await query(store.pool, findModerators(nameOrId));
  return known?.moderator_id;
}

/** Locks the moderator's row before it reads the stream, so that claims and sign-ins wait. */
function changeCommand<Reply>(
  id: string,
  type: 'ModeratorRevoked' | 'ModeratorTokenRotated',
  reply: Reply,
  rows: readonly Sql[],
): Command<Reply, 'not_found'> {
  const owner = moderatorOwner(id);
  const stream = `moderator-${id}`;
  return defineCommand({
    load: { active: lockModerator(id), events: readStream(owner, stream) },
    decide({ active: [moderator], events }) {
      if (!moderator) return refuse('not_found');
      const changed = { type, data: { moderator_id: id }, personal: null };
      return {
        appends: [{ owner, stream, version: streamVersion(events), events: [changed] }],
        rows,
        reply: () => reply,
      };
    },
  });
}
