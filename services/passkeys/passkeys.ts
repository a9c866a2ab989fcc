import { memberOwner } from '../../domain/owners.ts';
import type { PasskeyEnd } from '../../domain/passkeys/words.ts';
import { type Sql, sql } from '../../platform/sql.ts';

/** The most passkeys of a member. */
export const MAX_PASSKEYS = 10;

/** A passkey as its member sees it: without its key. */
export interface PasskeyRow {
  passkey_id: string;
  name: string;
  added_at: Date;
  last_used_on: string | null;
}

/** What proves a passkey, and whose it is. */
export interface PasskeyKey {
  passkey_id: string;
  member_id: string;
  key_epoch: number;
  credential_id: string;
  public_key: string;
  sign_count: number;
}

/** Finds a passkey by the id that its authenticator made. */
export function findPasskey(credentialId: string): Sql<PasskeyKey> {
  return sql`SELECT passkey_id, member_id, key_epoch, credential_id, public_key,
      sign_count::float8 AS sign_count
    FROM passkeys WHERE credential_id = ${credentialId}`;
}

/** Reads a member's passkeys, the newest first. */
export function passkeysOf(
  memberId: string,
): Sql<PasskeyRow & { credential_id: string; transports: string[] }> {
  return sql`SELECT passkey_id, name, added_at, last_used_on::text, credential_id, transports
    FROM passkeys WHERE member_id = ${memberId} ORDER BY added_at DESC, passkey_id`;
}

/** A page of a member's passkeys for the export, ordered by id. */
export function passkeysAfter(
  memberId: string,
  last: PasskeyRow | undefined,
  limit: number,
): Sql<PasskeyRow> {
  return sql`SELECT passkey_id, name, added_at, last_used_on::text FROM passkeys
    WHERE member_id = ${memberId}
      AND passkey_id > ${last?.passkey_id ?? '00000000-0000-0000-0000-000000000000'}::uuid
    ORDER BY passkey_id LIMIT ${limit}`;
}

export interface NewPasskey {
  passkeyId: string;
  memberId: string;
  keyEpoch: number;
  credentialId: string;
  publicKey: string;
  signCount: number;
  transports: readonly string[];
  name: string;
  now: Date;
}

export function insertPasskey(row: NewPasskey): Sql {
  return sql`INSERT INTO passkeys (passkey_id, member_id, key_epoch, credential_id, public_key,
      sign_count, transports, name, added_at)
    VALUES (${row.passkeyId}, ${row.memberId}, ${row.keyEpoch}, ${row.credentialId},
      ${row.publicKey}, ${row.signCount}, ${row.transports}::text[], ${row.name}, ${row.now})`;
}

/** Records a sign-in: the counter of the authenticator, and the day. */
export function countUse(passkeyId: string, signCount: number): Sql {
  return sql`UPDATE passkeys SET sign_count = ${signCount},
      last_used_on = (clock_timestamp() AT TIME ZONE 'UTC')::date
    WHERE passkey_id = ${passkeyId}`;
}

export function renamePasskey(memberId: string, passkeyId: string, name: string): Sql<PasskeyRow> {
  return sql`UPDATE passkeys SET name = ${name}
    WHERE passkey_id = ${passkeyId} AND member_id = ${memberId}
    RETURNING passkey_id, name, added_at, last_used_on::text`;
}

export function dropPasskeys(passkeyIds: readonly string[]): Sql {
  return sql`DELETE FROM passkeys WHERE passkey_id = ANY(${passkeyIds}::uuid[])`;
}

/** Ends every passkey: some may have been added or removed in a part of the log that is lost. */
export function dropEveryPasskey(): Sql {
  return sql`DELETE FROM passkeys`;
}

/** Returns the append that ends a passkey. The stream is at version 1: it holds only the beginning. */
export function endPasskey(memberId: string, passkeyId: string, reason: PasskeyEnd) {
  return {
    owner: memberOwner(memberId),
    stream: `passkey-${passkeyId}`,
    version: 1,
    actor:
      reason === 'copied' || reason === 'disabled'
        ? { type: 'service' as const }
        : { type: 'member' as const, id: memberId },
    events: [{ type: 'PasskeyRemoved', data: { passkey_id: passkeyId, reason }, personal: null }],
  };
}
