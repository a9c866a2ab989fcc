import { readStream, streamVersion } from '../../../platform/eventstore/append.ts';
import {
  type Command,
  defineCommand,
  type EventStore,
  type Writes,
} from '../../../platform/eventstore/event-store.ts';
import { moderatorOwner } from '../../../platform/eventstore/owner.ts';
import type { Role } from '../../../platform/http/principal.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import { newToken } from '../../../platform/keys/token.ts';
import { dropVerifiers, writeVerifier } from '../../../platform/keys/verifiers.ts';
import { query } from '../../../platform/postgres/query.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import { findModerators, lockModerator } from '../../../projections/moderation/moderators.ts';
import { dropModeratorSessions, releaseAllLeases } from './sessions.ts';
import { moderatorToken } from './token.ts';

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

/** Adds a moderator; refuses with `name_taken` if an active moderator has the name. */
export async function addModerator(
  { store, keys }: ModeratorDeps,
  name: string,
  role: Role,
): Promise<AddedModerator | Refusal<'name_taken'>> {
  const token = newToken();
  const { id } = token;
  const command: Command<AddedModerator, 'name_taken'> = defineCommand({
    load: findModerators(name),
    decide({ rows: taken }) {
      if (taken.length > 0) return refuse('name_taken');
      return {
        answer: { id, token: moderatorToken(token) },
        appends: [
          {
            owner: moderatorOwner(id),
            stream: `moderator-${id}`,
            version: 0,
            actor: { type: 'service' },
            events: [
              { type: 'ModeratorAdded', data: { moderator_id: id, role }, personal: { name } },
            ],
          },
        ],
        rows: [
          writeVerifier(
            moderatorOwner(id),
            'moderator',
            id,
            keys.mac('moderator', id, token.secret),
          ),
        ],
      };
    },
  });
  return store.execute(command);
}

/** Revokes a moderator, found by name or id, together with the token, sessions and leases. */
export async function revokeModerator(
  { store }: Pick<ModeratorDeps, 'store'>,
  nameOrId: string,
): Promise<{ id: string } | Refusal<'not_found'>> {
  const id = await activeModerator(store, nameOrId);
  if (!id) return refuse('not_found');
  return store.execute(
    changeCommand(id, 'ModeratorRevoked', {
      answer: { id },
      rows: [dropVerifiers(moderatorOwner(id)), dropModeratorSessions(id), releaseAllLeases(id)],
    }),
  );
}

/** Gives a moderator a new token; ends the old token, the sessions and the leases. */
export async function rotateModerator(
  { store, keys }: ModeratorDeps,
  nameOrId: string,
): Promise<AddedModerator | Refusal<'not_found'>> {
  const id = await activeModerator(store, nameOrId);
  if (!id) return refuse('not_found');
  const token = newToken(id);
  return store.execute(
    changeCommand(id, 'ModeratorTokenRotated', {
      answer: { id, token: moderatorToken(token) },
      rows: [
        writeVerifier(moderatorOwner(id), 'moderator', id, keys.mac('moderator', id, token.secret)),
        dropModeratorSessions(id),
        releaseAllLeases(id),
      ],
    }),
  );
}

async function activeModerator(store: EventStore, nameOrId: string): Promise<string | undefined> {
  const [known] = await query(store.pool, findModerators(nameOrId));
  return known?.moderator_id;
}

/** Locks the moderator's row before it reads the stream, so that claims and sign-ins wait. */
function changeCommand<Answer>(
  id: string,
  type: 'ModeratorRevoked' | 'ModeratorTokenRotated',
  writes: Pick<Writes<Answer>, 'answer' | 'rows'>,
): Command<Answer, 'not_found'> {
  const stream = `moderator-${id}`;
  return defineCommand({
    load: { active: lockModerator(id), events: readStream(moderatorOwner(id), stream) },
    decide({
      rows: {
        active: [moderator],
        events,
      },
    }) {
      if (!moderator) return refuse('not_found');
      return {
        ...writes,
        appends: [
          {
            owner: moderatorOwner(id),
            stream,
            version: streamVersion(events),
            actor: { type: 'service' },
            events: [{ type, data: { moderator_id: id }, personal: null }],
          },
        ],
      };
    },
  });
}
