import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { locking, type Sql, sql } from '../../platform/sql.ts';

export const CHALLENGE_SECONDS = 300;

/** Who asked for a challenge, and for what: the session that adds a passkey, or the address that signs in. */
export interface ChallengeHolder {
  purpose: 'add' | 'sign-in';
  holder: string;
}

/** How many challenges may wait at a time; a further one takes the place of the oldest. */
const SLOTS = { add: 5, 'sign-in': 20 } as const;

export const newChallenge = (): string => randomBytes(32).toString('base64url');

/**
 * Stores a challenge in a free slot, at random so that two at a time rarely meet, or in that of the oldest.
 * The time is the database's.
 */
export function storeChallenge(
  { purpose, holder }: ChallengeHolder,
  challenge: string,
): Sql<{ expires_at: Date }> {
  return sql`INSERT INTO passkey_challenges (holder, slot, challenge, purpose, expires_at)
    SELECT ${holder}, place.slot, ${challenge}, ${purpose},
      clock_timestamp() + make_interval(secs => ${CHALLENGE_SECONDS}::int)
    FROM generate_series(1, ${SLOTS[purpose]}::int) place (slot)
    LEFT JOIN passkey_challenges waiting ON waiting.holder = ${holder}
      AND waiting.slot = place.slot AND waiting.expires_at > clock_timestamp()
    ORDER BY waiting.expires_at NULLS FIRST, random() LIMIT 1
    ON CONFLICT (holder, slot) DO UPDATE SET challenge = excluded.challenge,
      purpose = excluded.purpose, expires_at = excluded.expires_at
    RETURNING expires_at`;
}

/** Finds a challenge that may be answered, and locks it, so that it is answered once. */
export function lockChallenge(
  { purpose, holder }: ChallengeHolder,
  challenge: string,
): Sql<{ slot: number }> {
  return locking(sql`SELECT slot FROM passkey_challenges
    WHERE challenge = ${challenge} AND holder = ${holder} AND purpose = ${purpose}
      AND expires_at > clock_timestamp() FOR UPDATE`);
}

export function dropChallenge(challenge: string): Sql {
  return sql`DELETE FROM passkey_challenges WHERE challenge = ${challenge}`;
}

/** Deletes at most `limit` challenges that were not answered in time, and returns one row for each. */
export function dropExpiredChallenges(limit: number): Sql {
  return sql`DELETE FROM passkey_challenges WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM passkey_challenges WHERE expires_at < clock_timestamp()
      ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING 1`;
}

/** What passkeys are bound to, as WebAuthn names it: the host, and the origin of the pages. */
export interface RelyingParty {
  id: string;
  origin: string;
}

/**
 * The relying party of a base URL; undefined where browsers offer no passkeys: the host is an IP address, or
 * the page is neither https nor on localhost.
 */
export function relyingParty(baseUrl: string): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(baseUrl);
  const isAddress = isIP(hostname.replace(/[[\]]/g, '')) !== 0;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isAddress || (protocol !== 'https:' && !isLocal)) return undefined;
  return { id: hostname, origin };
}
