import type pg from 'pg';
import { countReceipts } from '../../platform/eventstore/receipts.ts';
import type { KeyRing, Purpose } from '../../platform/keys/key-ring.ts';
import { query } from '../../platform/postgres/query.ts';
import type { Sql } from '../../platform/sql.ts';
import { countHandles, handleKeys } from '../../projections/membership/members.ts';
import { countVerifiers, verifierKeys } from '../../projections/membership/verifiers.ts';
import { countSessions } from './sessions.ts';

/**
 * Data that is unusable without its server key: a member's keys and sessions could not be verified,
 * nor taken handles recognized. For verifiers and handles, which grow without bound, startup only
 * lists the distinct key ids.
 */
const NEEDED = { verifiers: verifierKeys, handles: handleKeys, sessions: countSessions } as const;
/** The uses that are counted in one pass over the verifiers, by purpose. */
const VERIFIER_USES = {
  'sign-in': 'sign_in',
  recovery: 'recovery',
  credential: 'credentials',
  moderator: 'moderators',
} as const satisfies Partial<Record<Purpose, string>>;
/** Includes receipts: without its server key a receipt remains, but no longer matches a retry. */
const COUNTS = {
  handles: countHandles,
  sessions: countSessions,
  receipts: countReceipts,
} as const;

type VerifierPurpose = keyof typeof VERIFIER_USES;
export type KeyUse = (typeof VERIFIER_USES)[VerifierPurpose] | keyof typeof COUNTS;
const COUNTED = Object.keys(COUNTS) as (keyof typeof COUNTS)[];
export const USE_NAMES: readonly KeyUse[] = [...Object.values(VERIFIER_USES), ...COUNTED];

/** The number of rows of each kind that use a server key, by key id. */
export type KeyUsage = ReadonlyMap<number, Readonly<Partial<Record<KeyUse, number>>>>;

/** Counts rows by server key, which may take minutes: pass a client without a query timeout. */
export async function keyUsage(client: pg.Client): Promise<KeyUsage> {
  const usage = new Map<number, Partial<Record<KeyUse, number>>>();
  const add = (use: KeyUse, { key_id, count }: { key_id: number; count: number }) =>
    usage.set(key_id, { ...usage.get(key_id), [use]: count });
  type VerifierCount = { purpose: VerifierPurpose; key_id: number; count: number };
  const verifiers = await client.query<VerifierCount>(countVerifiers());
  for (const row of verifiers.rows) add(VERIFIER_USES[row.purpose], row);
  for (const use of COUNTED) {
    const { rows } = await client.query<{ key_id: number; count: number }>(COUNTS[use]());
    for (const row of rows) add(use, row);
  }
  return usage;
}

/**
 * Finds the server keys that stored data needs and the key ring lacks, by key id, with what needs
 * them.
 */
export async function findMissingKeys(
  ask: (statement: Sql<{ key_id: number }>) => Promise<readonly { key_id: number }[]>,
  keys: Pick<KeyRing, 'ids' | 'handleIds'>,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const missing = new Map<number, string[]>();
  for (const [use, statement] of Object.entries(NEEDED))
    for (const { key_id } of await ask(statement()))
      if (!(use === 'handles' ? keys.handleIds : keys.ids).includes(key_id))
        missing.set(key_id, [...(missing.get(key_id) ?? []), use]);
  return new Map([...missing].sort(([a], [b]) => a - b));
}

/** Throws at startup if the key ring lacks a server key that stored data needs. */
export async function requireKeys(
  pool: pg.Pool,
  keys: Pick<KeyRing, 'ids' | 'handleIds'>,
): Promise<void> {
  const missing = await findMissingKeys((statement) => query(pool, statement), keys);
  if (missing.size === 0) return;
  const needs = [...missing]
    .map(([id, uses]) => `key ${id}, which ${uses.join(', ')} need`)
    .join('; ');
  throw new Error(
    `SERVER_KEYS lacks ${needs}. Put it back; npm run keys -- status tells what is in use`,
  );
}
