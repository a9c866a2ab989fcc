import type pg from 'pg';
import { countReceipts } from '../../platform/eventstore/append.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { countVerifiers, verifierKeys } from '../../platform/keys/verifiers.ts';
import { query } from '../../platform/postgres/query.ts';
import { countHandles, handleKeys } from '../../projections/membership/members.ts';
import { countSessions } from './sessions.ts';

/**
 * Data that is unusable without its server key: a member's keys and sessions could not be verified,
 * nor taken handles recognized. For verifiers and handles, which grow without bound, startup only
 * lists the distinct key ids.
 */
const NEEDED = { verifiers: verifierKeys, handles: handleKeys, sessions: countSessions } as const;
/** Tells verifiers apart, and adds receipts, which remain without their key but match no retry. */
const COUNTS = {
  sign_in: () => countVerifiers('sign-in'),
  recovery: () => countVerifiers('recovery'),
  credentials: () => countVerifiers('credential'),
  moderators: () => countVerifiers('moderator'),
  handles: countHandles,
  sessions: countSessions,
  receipts: countReceipts,
} as const;

export type KeyUse = keyof typeof COUNTS;
export const USE_NAMES = Object.keys(COUNTS) as KeyUse[];

/** The number of rows of each kind that use a server key, by key id. */
export type KeyUsage = ReadonlyMap<number, Readonly<Partial<Record<KeyUse, number>>>>;

/** Counts rows by server key, which may take minutes: pass a client without a query timeout. */
export async function keyUsage(client: pg.Client): Promise<KeyUsage> {
  const usage = new Map<number, Partial<Record<KeyUse, number>>>();
  for (const use of USE_NAMES) {
    const { rows } = await client.query<{ key_id: number; count: number }>(COUNTS[use]());
    for (const { key_id, count } of rows) usage.set(key_id, { ...usage.get(key_id), [use]: count });
  }
  return usage;
}

/**
 * Checks at startup that the key ring has every server key that stored data needs. Throws an error
 * that names the missing keys and what needs them.
 */
export async function requireKeys(
  pool: pg.Pool,
  keys: Pick<KeyRing, 'ids' | 'handleIds'>,
): Promise<void> {
  const missing = new Map<number, string[]>();
  for (const [use, statement] of Object.entries(NEEDED))
    for (const { key_id } of await query(pool, statement()))
      if (!(use === 'handles' ? keys.handleIds : keys.ids).includes(key_id))
        missing.set(key_id, [...(missing.get(key_id) ?? []), use]);
  if (missing.size === 0) return;
  const needs = [...missing]
    .sort(([a], [b]) => a - b)
    .map(([id, uses]) => `key ${id}, which ${uses.join(', ')} need`)
    .join('; ');
  throw new Error(
    `SERVER_KEYS lacks ${needs}. Put it back; npm run keys -- status tells what is in use`,
  );
}
