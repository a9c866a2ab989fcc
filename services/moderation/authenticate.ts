import type pg from 'pg';
import type { ModeratorRow } from '../../projections/moderators.ts';
import { type Refusal, refuse } from '../eventstore/decider.ts';
import { sql } from '../eventstore/sql.ts';
import type { Presented, PrincipalOf } from '../http/principal.ts';
import type { KeyRing, Verifier } from '../keys.ts';
import { query } from '../postgres.ts';

const BEARER = /^bearer mod_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{64})$/i;

/** Who the token proves, asked anew on every request. */
export function moderatorAuthenticator(pool: pg.Pool, keys: KeyRing) {
  return async ({
    authorization,
  }: Presented): Promise<PrincipalOf<'moderator'> | Refusal<'moderator_required'>> => {
    const [, id, secret] = BEARER.exec(authorization ?? '') ?? [];
    if (!id || !secret) return refuse('moderator_required');
    const [row] = await query<ModeratorRow & Verifier>(
      pool,
      sql`SELECT m.*, v.key_id, v.hash FROM moderators m
        JOIN verifiers v ON v.owner_id = m.moderator_id AND v.purpose = 'moderator'
          AND v.subject_id = m.moderator_id
        WHERE m.moderator_id = ${id} AND m.state = 'active'`,
    );
    if (!keys.verify('moderator', id.toLowerCase(), secret, row) || !row)
      return refuse('moderator_required');
    return {
      kind: 'moderator',
      moderatorId: row.moderator_id,
      name: row.name ?? '',
      role: row.role,
      sessionId: null,
    };
  };
}
