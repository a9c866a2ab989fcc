import type pg from 'pg';
import { handleKeys } from '../projections/members.ts';
import { receiptKeys } from './eventstore/append.ts';
import type { Sql } from './eventstore/sql.ts';
import type { KeyRing } from './keys.ts';
import { sessionKeys } from './membership/sessions.ts';
import { query } from './postgres.ts';
import { verifierKeys } from './verifiers.ts';

/** What the service cannot do without its key: prove a member's keys, or know a handle as taken. */
const NEEDED = { verifiers: verifierKeys, handles: handleKeys, sessions: sessionKeys } as const;
/** Without its key a receipt stays, but an exact retry is no longer known as one. */
const USES = { ...NEEDED, receipts: receiptKeys } as const;

export type Use = keyof typeof USES;
export const USE_NAMES = Object.keys(USES) as Use[];

/** How much of each kind stands under each server key's id. */
export type KeyUsage = ReadonlyMap<number, Readonly<Partial<Record<Use, number>>>>;

export function keyUsage(pool: pg.Pool): Promise<KeyUsage> {
  return read(pool, USES);
}

/** Refuses to start where something stored needs a server key that is not in the ring. */
export async function requireKeys(pool: pg.Pool, keys: Pick<KeyRing, 'ids'>): Promise<void> {
  const usage = await read(pool, NEEDED);
  const missing = [...usage].filter(([id]) => !keys.ids.includes(id)).sort(([a], [b]) => a - b);
  if (missing.length === 0) return;
  const needs = missing.map(([id, uses]) => `key ${id}, which ${described(uses)} need`).join('; ');
  throw new Error(
    `SERVER_KEYS lacks ${needs}. Put it back; npm run keys -- status tells what is in use`,
  );
}

async function read(
  pool: pg.Pool,
  uses: Readonly<Partial<Record<Use, () => Sql>>>,
): Promise<KeyUsage> {
  const usage = new Map<number, Partial<Record<Use, number>>>();
  await Promise.all(
    Object.entries(uses).map(async ([use, statement]) => {
      for (const { key_id, count } of await query<{ key_id: number; count: number }>(
        pool,
        statement(),
      ))
        usage.set(key_id, { ...usage.get(key_id), [use]: count });
    }),
  );
  return usage;
}

function described(uses: Partial<Record<Use, number>>): string {
  return USE_NAMES.flatMap((use) => (uses[use] ? [`${uses[use]} ${use}`] : [])).join(', ');
}
