import type pg from 'pg';
import { memberOwner, type OwnerKind } from '../../domain/owners.ts';
import type { Owner } from '../../platform/eventstore/owner.ts';
import type { KeyRing, Purpose, Verifier } from '../../platform/keys/key-ring.ts';
import { defineBatch, defineInsert, defineRead } from '../../platform/postgres/batch-statements.ts';
import { query } from '../../platform/postgres/query.ts';
import { type Sql, sql, valuesIn } from '../../platform/sql.ts';

/** What the verifiers of an owner verify. A member and a moderator may have the same id. */
const PURPOSES = {
  member: ['sign-in', 'recovery', 'credential'],
  moderator: ['moderator'],
} as const satisfies Partial<Record<OwnerKind, readonly Purpose[]>>;

type Holder = keyof typeof PURPOSES;
type PurposeOf<Kind extends Holder> = (typeof PURPOSES)[Kind][number];

/** A stored verifier. `purpose` and `subject_id` name what it verifies, such as one credential. */
export interface VerifierRow extends Verifier {
  purpose: Purpose;
  subject_id: string;
}

const verifiersFor = defineRead<VerifierRow>(
  { owner: 'uuid', purpose: 'text' },
  ({ owner, purpose }) => `SELECT purpose, subject_id, key_id, hash FROM verifiers
    WHERE owner_id = ${owner} AND purpose = ${purpose}`,
);

/** Reads an owner's verifiers for one purpose. */
export const readVerifiers = <Kind extends Holder>(
  { id }: Owner<Kind>,
  purpose: PurposeOf<Kind>,
): Sql<VerifierRow> => verifiersFor({ owner: id, purpose });

const upsertVerifier = defineInsert(
  'verifiers',
  { owner_id: 'uuid', purpose: 'text', subject_id: 'uuid', key_id: 'int', hash: 'text' },
  {
    key: ['owner_id', 'purpose', 'subject_id'],
    conflict: 'DO UPDATE SET key_id = excluded.key_id, hash = excluded.hash',
  },
);

/** Writes a verifier, or replaces the one for the same purpose and subject. */
export function writeVerifier<Kind extends Holder>(
  { id }: Owner<Kind>,
  purpose: PurposeOf<Kind>,
  subject: string,
  verifier: Verifier,
): Sql {
  return upsertVerifier({
    owner_id: id,
    purpose,
    subject_id: subject,
    key_id: verifier.key_id,
    hash: verifier.hash,
  });
}

/**
 * Makes an owner's verifier again under the newest server key, so that older ones can be retired.
 * Call it with a secret that `stored` has just verified. Returns nothing to write where the
 * verifier is under the newest key already.
 */
export function renewVerifier<Kind extends Holder>(
  keys: KeyRing,
  owner: Owner<Kind>,
  secret: string,
  stored: VerifierRow | undefined,
): Sql[] {
  if (!stored || stored.key_id === keys.ids[0]) return [];
  const { purpose, subject_id } = stored;
  const renewed = keys.mac(purpose, owner.id, secret);
  return [writeVerifier(owner, purpose as PurposeOf<Kind>, subject_id, renewed)];
}

/** Deletes all verifiers of an owner, and none of an owner of another kind with the same id. */
export function dropVerifiers({ kind, id }: Owner<Holder>): Sql {
  return sql`DELETE FROM verifiers WHERE owner_id = ${id} AND purpose = ANY(${PURPOSES[kind]})`;
}

const dropVerifier = defineBatch(
  'verifiers',
  { owner_id: 'uuid', purpose: 'text', subject_id: 'uuid' },
  (given) => `DELETE FROM verifiers v USING ${given} WHERE v.owner_id = given.owner_id
    AND v.purpose = given.purpose AND v.subject_id = given.subject_id`,
  ['owner_id', 'purpose', 'subject_id'],
);

/** Deletes the verifier of a credential that ends; see `endCredentialVerifiers`. */
export const dropCredentialVerifier = (memberId: string, credentialId: string): Sql =>
  dropVerifier({ owner_id: memberId, purpose: 'credential', subject_id: credentialId });

/** Ends every credential: without a verifier, none is accepted. */
export function dropEveryCredentialVerifier(): Sql {
  return sql`DELETE FROM verifiers WHERE purpose = 'credential'`;
}

/** Reads the ids of the server keys that verifiers use. */
export const verifierKeys = () => valuesIn<{ key_id: number }>('verifiers', 'key_id');

/** Counts the verifiers by purpose and server key. */
export function countVerifiers(): Sql<{ purpose: Purpose; key_id: number; count: number }> {
  return sql`SELECT purpose, key_id, count(*)::int AS count FROM verifiers
    GROUP BY purpose, key_id`;
}

/** Deletes every verifier under a server key: what it verified is never accepted again. */
export function dropVerifiersUnder(keyId: number): Sql {
  return sql`DELETE FROM verifiers WHERE key_id = ${keyId}`;
}

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
