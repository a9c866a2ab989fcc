import type pg from 'pg';
import { memberOwner } from '../eventstore/owner.ts';
import { query } from '../postgres/query.ts';
import type { KeyRing } from './key-ring.ts';
import { readVerifiers } from './verifiers.ts';

/**
 * Whether a secret is a member's key. Ask before a command that a key proves: the command verifies it again
 * under the member's lock, and a stranger must neither hold that lock nor learn from the wait for it that
 * the id exists. Costs the same for an unknown id.
 */
export async function isMemberKey(
  { pool, keys }: { pool: pg.Pool; keys: KeyRing },
  memberId: string,
  purpose: 'sign-in' | 'recovery',
  secret: string,
): Promise<boolean> {
  const [stored] = await query(pool, readVerifiers(memberOwner(memberId), purpose));
  return keys.verify(purpose, memberId, secret, stored);
}
