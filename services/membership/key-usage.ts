import type pg from 'pg';
import { countReceipts } from '../../platform/eventstore/append.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { countVerifiers, verifierKeys } from '../../platform/keys/verifiers.ts';
import { query } from '../../platform/postgres/query.ts';
import { countHandles, handleKeys } from '../../projections/membership/members.ts';
import { countSessions } from './sessions.ts';

/**
 * What the service cannot do without its key: prove a member's keys, or know a handle as taken. The
 * first two grow for ever and are not counted at a start.
 */
const NEEDED = { verifiers: verifierKeys, handles: handleKeys, sessions: countSessions } as const;
/** Without its key a receipt stays, but an exact retry is no longer known as one. */
const COUNTS = {
  verifiers: countVerifiers,
  handles: countHandles,
  sessions: countSessions,
  receipts: countReceipts,
} as const;

export type Use = keyof typeof COUNTS;
export const USE_NAMES = Object.keys(COUNTS) as Use[];

/** How much of each kind stands under each server key's id. */
export type KeyUsage = ReadonlyMap<number, Readonly<Partial<Record<Use, number>>>>;

/** Counts everything, which may take minutes: on a connection that no deadline bounds. */
export async function keyUsage(client: pg.Client): Promise<KeyUsage> {
  const usage = new Map<number, Partial<Record<Use, number>>>();
  for (const use of USE_NAMES) {
    const { rows } = await client.query<{ key_id: number; count: number }>(COUNTS[use]());
    for (const { key_id, count } of rows) usage.set(key_id, { ...usage.get(key_id), [use]: count });
  }
  return usage;
}

/** Refuses to start where something stored needs a server key that is not in the ring. */
export async function requireKeys(pool: pg.Pool, keys: Pick<KeyRing, 'ids'>): Promise<void> {
  const missing = new Map<number, string[]>();
  for (const [use, statement] of Object.entries(NEEDED))
    for (const { key_id } of await query(pool, statement()))
      if (!keys.ids.includes(key_id)) missing.set(key_id, [...(missing.get(key_id) ?? []), use]);
  if (missing.size === 0) return;
  const needs = [...missing]
    .sort(([a], [b]) => a - b)
    .map(([id, uses]) => `key ${id}, which ${uses.join(', ')} need`)
    .join('; ');
  throw new Error(
    `SERVER_KEYS lacks ${needs}. Put it back; npm run keys -- status tells what is in use`,
  );
}
