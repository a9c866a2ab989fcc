import type pg from 'pg';
import { deriveSecret } from '../../platform/keys/key-ring.ts';
import type { ServerKey } from '../../platform/keys/server-keys.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { dropEndedVerifiersUnder } from '../../projections/membership/ended-verifiers.ts';
import { dropVerifiersUnder } from '../../projections/membership/verifiers.ts';
import type { KeyUse } from './key-usage.ts';
import { expireSessions } from './sessions.ts';

/** What prevents that a key is retired, in words that follow a count. */
const NEEDS: Partial<Record<KeyUse, string>> = {
  sign_in: 'sign-in keys',
  recovery: 'recovery keys',
  credentials: 'credentials',
  moderators: "moderators' tokens",
  sessions: 'sessions',
};

/**
 * Returns the server keys without one of them, and those with its derived key for handles in its
 * place. A taken handle is known only by its hash once its member is erased, so the hash cannot be
 * made again. Throws if the key is not there, is the newest or is retired already.
 */
export function retired(keys: readonly ServerKey[], id: number) {
  const key = keys.find((candidate) => candidate.id === id);
  if (!key) throw new Error(`SERVER_KEYS has no key ${id}`);
  if (key.only) throw new Error(`Key ${id} is retired already`);
  if (key === keys[0])
    throw new Error(`Key ${id} is the newest: put a new key before it and restart first`);
  const without = keys.filter((candidate) => candidate !== key);
  const secret = deriveSecret(key.secret, 'handle');
  return { without, withHandles: [...without, { id, secret, only: 'handle' as const }] };
}

type Uses = Readonly<Partial<Record<KeyUse, number>>>;

/** What still needs a key: its number, and in words. */
function needsOf(uses: Uses): { count: number; words: string } {
  const needs = Object.entries(NEEDS)
    .map(([use, words]) => ({ count: uses[use as KeyUse] ?? 0, words }))
    .filter(({ count }) => count > 0);
  return {
    count: needs.reduce((sum, { count }) => sum + count, 0),
    words: needs.map(({ count, words }) => `${count} ${words}`).join(', '),
  };
}

const endedBy = (uses: Uses): Uses =>
  Object.fromEntries(Object.entries(uses).filter(([use, count]) => use in NEEDS && count > 0));

/** A key that was given up while something needed it. */
export interface GivenUpKey {
  key_id: number;
  given_up_at: Date;
  ended: Uses;
}

/** Reads which keys were given up, the last one first. */
export const givenUpKeys = (): Sql<GivenUpKey> =>
  sql`SELECT key_id, given_up_at, ended FROM given_up_keys ORDER BY given_up_at DESC`;

/** Says in a sentence what ended with a key. */
export const describeGivenUp = ({ key_id, given_up_at, ended }: GivenUpKey): string =>
  `Key ${key_id} was given up at ${given_up_at.toISOString()}, which ended ${needsOf(ended).words}`;

/** Throws if something still needs the key, and says what. */
export function requireUnneeded(id: number, uses: Uses): void {
  const { count, words } = needsOf(uses);
  if (count === 0) return;
  throw new Error(
    `Key ${id} is still needed by ${words}. A sign-in renews a sign-in key, a recovery both ` +
      `keys; credentials end within a day, sessions within half an hour. To see how to end the rest for good: ` +
      `npm run keys -- retire ${id} --give-up`,
  );
}

/** Throws unless the operator has confirmed how much a key that is given up ends for good. */
export function requireConfirmed(id: number, uses: Uses, confirmed: number | undefined): void {
  const { count, words } = needsOf(uses);
  if (count === 0 || confirmed === count) return;
  throw new Error(
    `This ends ${words} for good. Make a backup first, then: npm run keys -- retire ${id} --give-up --yes ${count}`,
  );
}

/**
 * Ends what still needs a key: verifiers are deleted and sessions expire, in one transaction, which records
 * how much ended.
 */
export async function giveUpKey(client: pg.Client, id: number, uses: Uses): Promise<void> {
  await client.query('BEGIN');
  await client.query(dropVerifiersUnder(id));
  await client.query(dropEndedVerifiersUnder(id));
  await client.query(expireSessions(id));
  if (needsOf(uses).count > 0)
    await client.query(sql`INSERT INTO given_up_keys (key_id, ended)
      VALUES (${id}, ${JSON.stringify(endedBy(uses))}::jsonb)`);
  await client.query('COMMIT');
}
