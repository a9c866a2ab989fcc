import type pg from 'pg';
import {
  bearerToken,
  type PresentedCredential,
  type PrincipalOf,
} from '../../../platform/http/principal.ts';
import type { KeyRing, Verifier } from '../../../platform/keys/key-ring.ts';
import { readToken, type Token, tokenText } from '../../../platform/keys/token.ts';
import { query } from '../../../platform/postgres/query.ts';
import { readTogether } from '../../../platform/postgres/read-together.ts';
import { isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import { sql } from '../../../platform/sql.ts';
import type { ModeratorRow } from '../../../projections/moderation/moderators.ts';
import {
  findLiveModeratorSession,
  presentedModeratorSession,
  touchModeratorSession,
} from './sessions.ts';

type Authenticated = PrincipalOf<'moderator'> | Refusal<'moderator_required'>;

/**
 * Authenticates each request by its bearer token or, without one, by its session cookie. Pages in
 * one browser share the cookie, and another moderator may have signed in on another page, so a page
 * names the moderator that it expects.
 */
export function moderatorAuthenticator(pool: pg.Pool, keys: KeyRing) {
  const find = readTogether<ModeratorRow & Verifier>(
    pool,
    (ids) => sql`SELECT m.*, v.key_id, v.hash FROM moderators m
      JOIN verifiers v ON v.owner_id = m.moderator_id AND v.purpose = 'moderator'
        AND v.subject_id = m.moderator_id
      WHERE m.moderator_id = ANY(${ids}::uuid[]) AND m.state = 'active'`,
    (row) => row.moderator_id,
  );

  async function byToken({ id, secret }: Token): Promise<Authenticated> {
    const row = await find(id);
    if (!keys.verify('moderator', id, secret, row) || !row) return refuse('moderator_required');
    return principal(row, { sessionId: null, tokenHash: row.hash });
  }

  async function bySession({ id, secret }: Token): Promise<Authenticated> {
    const [row] = await query(pool, findLiveModeratorSession(id));
    if (!keys.verify('moderator-session', id, secret, row) || !row)
      return refuse('moderator_required');
    if (row.stale) await query(pool, touchModeratorSession(id));
    return principal(row, { sessionId: row.session_id, tokenHash: null });
  }

  return async ({
    authorization,
    cookie,
    moderator,
  }: PresentedCredential): Promise<Authenticated> => {
    const token =
      authorization === undefined
        ? presentedModeratorSession(cookie)
        : readModeratorToken(bearerToken(authorization) ?? '');
    if (!token) return refuse('moderator_required');
    const found = await (authorization === undefined ? bySession(token) : byToken(token));
    const expected = moderator?.toLowerCase();
    return isRefusal(found) || expected === undefined || expected === found.moderatorId
      ? found
      : refuse('moderator_required');
  };
}

function principal(
  { moderator_id, name, role }: Pick<ModeratorRow, 'moderator_id' | 'name' | 'role'>,
  proof: Pick<PrincipalOf<'moderator'>, 'sessionId' | 'tokenHash'>,
): PrincipalOf<'moderator'> {
  return { kind: 'moderator', moderatorId: moderator_id, name: name ?? '', role, ...proof };
}

const PREFIX = 'mod_';

/** The text of a moderator's token, as the operator hands it out: `mod_<uuid>.<64 hex>`. */
export function moderatorToken(token: Token): string {
  return `${PREFIX}${tokenText(token)}`;
}

export function readModeratorToken(text: string): Token | undefined {
  return text.startsWith(PREFIX) ? readToken(text.slice(PREFIX.length)) : undefined;
}
