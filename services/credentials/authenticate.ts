import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import {
  bearerToken,
  type PresentedCredential,
  type PrincipalOf,
} from '../../platform/http/principal.ts';
import type { KeyRing, Verifier } from '../../platform/keys/key-ring.ts';
import { readTogether } from '../../platform/postgres/read-together.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import {
  type EndedCredentialRow,
  endedCredentials,
  type LiveCredentialRow,
  liveCredentials,
} from '../../projections/credentials/credentials.ts';
import {
  type EndReason,
  endedVerifier,
  refuseEnded,
} from '../../projections/membership/ended-verifiers.ts';
import { createUseRecorder } from './last-use.ts';

const FORM = /^svc_([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})\.([0-9a-f]{64})$/;

/** Parses a bearer header into the credential's id, in lowercase, and its secret. */
export function presentedCredential(
  authorization: string | undefined,
): { id: string; secret: string } | undefined {
  const [, id, secret] = FORM.exec(bearerToken(authorization) ?? '') ?? [];
  return id && secret ? { id: id.toLowerCase(), secret } : undefined;
}

/** The owner that the keyed hash of a credential's secret is bound to. */
export const credentialOwner = (memberId: string, credentialId: string) =>
  `${memberId} ${credentialId}`;

/** Why a credential ended, if the secret is its secret. Costs the same if there is no row. */
export function verifyEnded(
  keys: KeyRing,
  credentialId: string,
  secret: string,
  row: EndedCredentialRow | undefined,
): EndReason | undefined {
  const known = row !== undefined && keys.ids.includes(row.key_id);
  const owner = credentialOwner(row?.member_id ?? '', credentialId);
  const verifier = keys.mac('credential', owner, secret, known ? row.key_id : keys.ids[0]);
  const kept = endedVerifier(keys, credentialId, verifier);
  const expected = known ? row.hash : '0'.repeat(64);
  const { hash } = row?.recorded === false ? verifier : kept;
  return timingSafeEqual(Buffer.from(hash), Buffer.from(expected)) && known
    ? row.reason
    : undefined;
}

/** Authenticates a bearer. It reads the database on every request and caches nothing. */
export function bearerAuthenticator(pool: pg.Pool, keys: KeyRing) {
  const find = readTogether<LiveCredentialRow & Verifier>(
    pool,
    liveCredentials,
    (row) => row.credential_id,
  );
  const findEnded = readTogether<EndedCredentialRow>(
    pool,
    endedCredentials,
    (row) => row.credential_id,
  );
  const recordUse = createUseRecorder(pool);

  return async ({
    authorization,
  }: PresentedCredential): Promise<
    PrincipalOf<'credential'> | Refusal<'credential_required' | 'credential_not_accepted'>
  > => {
    if (authorization === undefined) return refuse('credential_required');
    const presented = presentedCredential(authorization);
    if (!presented) return refuse('credential_not_accepted');
    const { id: credentialId, secret } = presented;
    const row = await find(credentialId);
    const owner = credentialOwner(row?.member_id ?? '', credentialId);
    if (!keys.verify('credential', owner, secret, row) || !row) {
      // The same read and hashes for every id, known or not.
      const reason = verifyEnded(keys, credentialId, secret, await findEnded(credentialId));
      return refuseEnded('credential_not_accepted', 'credential', reason);
    }
    if (!row.used_today) recordUse(credentialId);
    return {
      kind: 'credential',
      memberId: row.member_id,
      handle: row.handle,
      credentialId: row.credential_id,
      scopes: row.scopes,
      label: row.label,
      keyEpoch: row.key_epoch,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      writesToday: row.writes_today,
      provenAt: row.proven_at,
    };
  };
}
