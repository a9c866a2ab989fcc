import { randomBytes, randomUUID } from 'node:crypto';
import { findModerators, type ModeratorRow } from '../../projections/moderators.ts';
import { readStream, streamVersion } from '../eventstore/append.ts';
import { type Refusal, refuse } from '../eventstore/decider.ts';
import type { RecordedEvent } from '../eventstore/event.ts';
import { sql } from '../eventstore/sql.ts';
import type { EventStore } from '../eventstore/store.ts';
import type { Role } from '../http/principal.ts';
import type { KeyRing } from '../keys.ts';
import { query } from '../postgres.ts';
import { dropVerifiers, writeVerifier } from '../verifiers.ts';

export interface ModeratorParts {
  store: EventStore;
  keys: KeyRing;
}

export interface AddedModerator {
  id: string;
  /** Shown once; only its verifier is kept. */
  token: string;
}

/** A new moderator, under a name that no active one has. */
export async function addModerator(
  { store, keys }: ModeratorParts,
  name: string,
  role: Role,
): Promise<AddedModerator | Refusal<'name_taken'>> {
  const id = randomUUID();
  const secret = randomBytes(32).toString('hex');
  return store.execute<AddedModerator, 'name_taken'>({
    load: [findModerators(name)],
    decide({ rows: [taken = []] }) {
      if (taken.length > 0) return refuse('name_taken');
      return {
        answer: { id, token: `mod_${id}.${secret}` },
        appends: [
          {
            owner: id,
            stream: `moderator-${id}`,
            version: 0,
            actor: { type: 'service' },
            events: [
              { type: 'ModeratorAdded', data: { moderator_id: id, role }, personal: { name } },
            ],
          },
        ],
        rows: [writeVerifier(id, 'moderator', id, keys.mac('moderator', id, secret))],
      };
    },
  });
}

/** Ends a moderator, found by name or id, together with the token and the leases. */
export async function revokeModerator(
  { store }: Pick<ModeratorParts, 'store'>,
  nameOrId: string,
): Promise<{ id: string } | Refusal<'not_found'>> {
  const [known] = await query<ModeratorRow>(store.pool, findModerators(nameOrId));
  if (!known) return refuse('not_found');
  const id = known.moderator_id;
  const stream = `moderator-${id}`;
  return store.execute<{ id: string }, 'not_found'>({
    load: [readStream(id, stream)],
    decide({ rows }) {
      const events = (rows[0] ?? []) as unknown as RecordedEvent[];
      if (events.at(-1)?.type !== 'ModeratorAdded') return refuse('not_found');
      return {
        answer: { id },
        appends: [
          {
            owner: id,
            stream,
            version: streamVersion(events),
            actor: { type: 'service' },
            events: [{ type: 'ModeratorRevoked', data: { moderator_id: id }, personal: null }],
          },
        ],
        rows: [dropVerifiers(id), sql`DELETE FROM note_leases WHERE moderator_id = ${id}`],
      };
    },
  });
}
