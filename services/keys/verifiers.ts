import { type Sql, sql, valuesIn } from '../eventstore/sql.ts';
import type { Purpose, Verifier } from './key-ring.ts';

/** A stored verifier. `purpose` and `subject_id` say of what: a member's key, one credential, … */
export interface VerifierRow extends Verifier {
  purpose: Purpose;
  subject_id: string;
}

/** An owner's verifiers for one purpose. */
export function readVerifiers(owner: string, purpose: Purpose): Sql<VerifierRow> {
  return sql`SELECT purpose, subject_id, key_id, hash FROM verifiers
    WHERE owner_id = ${owner}::uuid AND purpose = ${purpose}::text`;
}

/** Writes a verifier, or replaces the one for the same purpose and subject. */
export function writeVerifier(
  owner: string,
  purpose: Purpose,
  subject: string,
  verifier: Verifier,
): Sql {
  return sql`INSERT INTO verifiers (owner_id, purpose, subject_id, key_id, hash)
    VALUES (${owner}, ${purpose}, ${subject}, ${verifier.key_id}, ${verifier.hash})
    ON CONFLICT (owner_id, purpose, subject_id)
    DO UPDATE SET key_id = excluded.key_id, hash = excluded.hash`;
}

export function dropVerifiers(owner: string): Sql {
  return sql`DELETE FROM verifiers WHERE owner_id = ${owner}`;
}

/** Of credentials that end, which nothing asks for any more. */
export function dropCredentialVerifiers(owner: string, credentialIds: readonly string[]): Sql {
  return sql`DELETE FROM verifiers WHERE owner_id = ${owner}::uuid AND purpose = 'credential'
    AND subject_id = ANY(${credentialIds}::uuid[])`;
}

/** The server keys of verifiers. */
export const verifierKeys = () => valuesIn<{ key_id: number }>('verifiers', 'key_id');

/** How many verifiers stand under each server key. */
export function countVerifiers(): Sql<{ key_id: number; count: number }> {
  return sql`SELECT key_id, count(*)::int AS count FROM verifiers GROUP BY key_id`;
}
