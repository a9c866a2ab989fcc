import type { Role } from '../../platform/http/principal.ts';
import { locking, type Sql, sql } from '../../platform/sql.ts';
import * as events from '../../services/moderation/events.ts';
import { defineProjection } from '../projection.ts';

export const moderators = defineProjection(events, {
  name: 'moderators',
  tables: ['moderators'],
  texts: [{ table: 'moderators', columns: ['name'] }],
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
