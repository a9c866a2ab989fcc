import type pg from 'pg';
import { query } from '../postgres/query.ts';
import { type Sql, sql } from '../sql.ts';
import type { KeyRing, Verifier } from './key-ring.ts';

type Ring = Pick<KeyRing, 'handleIds' | 'mac'>;

/** Reads the check hash of each server key, recorded at its first use with this database. */
export function firstUsed(): Sql<Verifier> {
  return sql`SELECT key_id, hash FROM server_keys`;
}

/** Ids of the keys in the ring whose secret differs from the one first used under the same id. */
export function otherSecrets(keys: Ring, used: readonly Verifier[]): number[] {
  return used
    .filter(
      ({ key_id, hash }) => keys.handleIds.includes(key_id) && check(keys, key_id).hash !== hash,
    )
    .map(({ key_id }) => key_id);
}

/**
 * Throws if a server key has the id of an earlier key but another secret: stored verifiers would
 * not match, and new ones would stop matching when the right key returns. Call it after all other
 * checks of the keys, because it records new keys as used.
 */
export async function requireSameKeys(pool: pg.Pool, keys: Ring): Promise<void> {
  const used = await query(pool, firstUsed());
  refuseOthers(keys, used);
  const fresh = keys.handleIds.filter((id) => used.every(({ key_id }) => key_id !== id));
  if (fresh.length === 0) return;
  // If several processes start concurrently, the first INSERT wins; the others check against it.
  const hashes = fresh.map((id) => check(keys, id).hash);
  await query(
    pool,
    sql`INSERT INTO server_keys (key_id, hash)
      SELECT * FROM unnest(${fresh}::smallint[], ${hashes}::text[]) ON CONFLICT DO NOTHING`,
  );
  refuseOthers(keys, await query(pool, firstUsed()));
}

/** Throws if a key has another secret than the one that was first used under its id. */
export function refuseOthers(keys: Ring, used: readonly Verifier[]): void {
  const others = otherSecrets(keys, used).sort((a, b) => a - b);
  if (others.length === 0) return;
  throw new Error(
    `SERVER_KEYS has another secret for key ${others.join(', ')} than this database was used with. ` +
      'Put the old one back (npm run restore -- FOLDER --print-keys shows the keys of a backup), and give a new one an id that is not used',
  );
}

// The key derived for handles makes the check, because a retired key has no other. No handle has
// this owner.
function check(keys: Ring, id: number): Verifier {
  return keys.mac('handle', 'check', '', id);
}
