import type pg from 'pg';
import { deriveSecret } from '../../platform/keys/key-ring.ts';
import type { ServerKey } from '../../platform/keys/server-keys.ts';
import { dropVerifiersUnder } from '../../platform/keys/verifiers.ts';
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

/** Ends what still needs a key: verifiers are deleted and sessions expire, in one transaction. */
export async function giveUpKey(client: pg.Client, id: number): Promise<void> {
  await client.query('BEGIN');
  await client.query(dropVerifiersUnder(id));
  await client.query(expireSessions(id));
  await client.query('COMMIT');
}
