import * as events from '../../domain/moderation/events.ts';
import type { Role } from '../../domain/permissions.ts';
import type { Actor, RecordedEvent } from '../../platform/eventstore/event.ts';
import { locking, type Sql, sql } from '../../platform/sql.ts';
import { defineProjection } from '../projection.ts';

export const moderators = defineProjection(events, {
  name: 'moderators',
  tables: ['moderators'],
  texts: [{ table: 'moderators', columns: ['name'] }],
  keepLost: sql`UPDATE rebuild.moderators m SET name = present.name
    FROM public.moderators present WHERE present.moderator_id = m.moderator_id
      AND m.name IS NULL AND present.name IS NOT NULL RETURNING 'moderator ' || m.moderator_id AS kept`,
  on: {
    ModeratorAdded: ({ data, personal, recorded_at }) =>
      sql`INSERT INTO moderators (moderator_id, name, role, state, added_at)
        VALUES (${data.moderator_id}, ${personal?.name ?? null}, ${data.role}, 'active',
          ${recorded_at})`,
    ModeratorRevoked: ({ data, recorded_at }) =>
      sql`UPDATE moderators SET state = 'revoked', revoked_at = ${recorded_at}
        WHERE moderator_id = ${data.moderator_id}`,
  },
});

export interface ModeratorRow {
  moderator_id: string;
  name: string | null;
  role: Role;
  state: 'active' | 'revoked';
  added_at: Date;
  revoked_at: Date | null;
}

export function allModerators(): Sql<ModeratorRow> {
  return sql`SELECT * FROM moderators ORDER BY added_at, moderator_id`;
}

/** Finds active moderators by name or id. */
export function findModerators(nameOrId: string): Sql<ModeratorRow> {
  return sql`SELECT * FROM moderators
    WHERE state = 'active' AND (name = ${nameOrId} OR moderator_id::text = lower(${nameOrId}))`;
}

/** Reads an active moderator and blocks a revocation until the transaction ends. */
export function holdModerator(moderatorId: string): Sql<ModeratorRow> {
  return locking(sql`SELECT * FROM moderators
    WHERE moderator_id = ${moderatorId} AND state = 'active' FOR SHARE`);
}

/** Locks an active moderator; other claims for the same moderator wait. */
export function lockModerator(moderatorId: string): Sql<ModeratorRow> {
  return locking(sql`SELECT * FROM moderators
    WHERE moderator_id = ${moderatorId} AND state = 'active' FOR UPDATE`);
}

/** What the deletion of a member with the same id took from a moderator, until release 0.9.0. */
export interface ModeratorLoss {
  moderator_id: string;
  no_token: boolean;
  /** Receipts without their answers. */
  receipts: number;
}

/** Reads which moderators lack a token although they are active, or have empty receipts. */
export function moderatorLosses(): Sql<ModeratorLoss> {
  return sql`SELECT moderator_id, no_token, coalesce(receipts, 0) AS receipts FROM moderators m
      LEFT JOIN (SELECT owner_id, count(*)::int AS receipts FROM receipts
        WHERE owner_id IN (SELECT moderator_id FROM moderators) AND space = 'moderation' AND reply IS NULL
        GROUP BY owner_id) emptied ON emptied.owner_id = m.moderator_id,
      LATERAL (SELECT m.state = 'active' AND NOT EXISTS (SELECT FROM verifiers v
        WHERE v.owner_id = m.moderator_id AND v.purpose = 'moderator') AS no_token) tokens
    WHERE no_token OR receipts > 0 ORDER BY moderator_id`;
}

export interface ModeratorName {
  moderator_id: string;
  /** Null after erasure. */
  name: string | null;
}

/** The name of the moderator who caused an event, or null. */
export interface NamedActor {
  actor_name: string | null;
}

export type NamedEvent = RecordedEvent & NamedActor;

/** Reads the names of all moderators, also former ones: a service has a few. */
export function moderatorNames(): Sql<ModeratorName> {
  return sql`SELECT moderator_id, name FROM moderators`;
}

/** Adds the moderator's name to each event. */
export function nameActors<Row extends { actor: Actor }>(
  rows: readonly Row[],
  moderators: readonly ModeratorName[],
): (Row & NamedActor)[] {
  const names = new Map(moderators.map(({ moderator_id, name }) => [moderator_id, name]));
  const nameOf = ({ type, id = '' }: Actor) => (type === 'moderator' ? names.get(id) : undefined);
  return rows.map((row) => ({ ...row, actor_name: nameOf(row.actor) ?? null }));
}
