import type pg from 'pg';
import { query } from '../postgres/query.ts';
import { type Sql, sql } from '../sql.ts';
import type { KeyRing, Verifier } from './key-ring.ts';

type Ring = Pick<KeyRing, 'ids' | 'mac'>;

/** What the server keys were when each was first used. */
export function firstUsed(): Sql<Verifier> {
  return sql`SELECT key_id, hash FROM server_keys`;
}

/** The keys of the ring that have another secret than when their ids were first used. */
export function otherSecrets(keys: Ring, used: readonly Verifier[]): number[] {
  return used
    .filter(({ key_id, hash }) => keys.ids.includes(key_id) && check(keys, key_id).hash !== hash)
    .map(({ key_id }) => key_id);
}

/**
 * Refuses to start under a key that only bears the number of the right one: nothing would be proven
 * by it, and what was made meanwhile would be lost with the right one's return. Called when nothing
 * else refuses the keys: from now on those that are new count as used.
 */
export async function requireSameKeys(pool: pg.Pool, keys: Ring): Promise<void> {
  const used = await query(pool, firstUsed());
  refuseOthers(keys, used);
  const fresh = keys.ids.filter((id) => used.every(({ key_id }) => key_id !== id));
  if (fresh.length === 0) return;
  // Of several processes that start at once, whoever comes first.
  const hashes = fresh.map((id) => check(keys, id).hash);
  await query(
    pool,
    sql`INSERT INTO server_keys (key_id, hash)
      SELECT * FROM unnest(${fresh}::smallint[], ${hashes}::text[]) ON CONFLICT DO NOTHING`,
  );
  refuseOthers(keys, await query(pool, firstUsed()));
}

function refuseOthers(keys: Ring, used: readonly Verifier[]): void {
  const others = otherSecrets(keys, used).sort((a, b) => a - b);
  if (others.length === 0) return;
  throw new Error(
    `SERVER_KEYS has another secret for key ${others.join(', ')} than this database was used with. ` +
      'Put the old one back, or give the new one an id of its own',
  );
}

function check(keys: Ring, id: number): Verifier {
  return keys.mac('server-key', '', '', id);
}
