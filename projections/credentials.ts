import * as events from '../services/credentials/events.ts';
import { type Sql, sql } from '../services/eventstore/sql.ts';
import type { Scope } from '../services/http/scopes.ts';
import { defineProjection } from './projection.ts';

export const credentials = defineProjection(events, {
  name: 'credentials',
  tables: ['credentials'],
  on: {
    CredentialCreated: ({ owner_id, data, recorded_at }) =>
      sql`INSERT INTO credentials (credential_id, member_id, scopes, state, created_at, expires_at)
        VALUES (${data.credential_id}, ${owner_id}, ${data.scopes}, 'active', ${recorded_at},
          ${data.expires_at})`,
    CredentialRevoked: ({ data, recorded_at }) =>
      sql`UPDATE credentials SET state = 'revoked', revoked_at = ${recorded_at},
        revoked_reason = ${data.reason} WHERE credential_id = ${data.credential_id}`,
    CredentialExpired: ({ data }) =>
      sql`UPDATE credentials SET state = 'expired' WHERE credential_id = ${data.credential_id}`,
  },
});

export interface CredentialRow {
  credential_id: string;
  member_id: string;
  scopes: Scope[];
  state: 'active' | 'expired' | 'revoked';
  created_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  revoked_reason: 'rotated' | 'revoked' | 'recovery' | 'deactivated' | null;
  /** By the database's clock, whatever `state` says. */
  unexpired: boolean;
}

/** One credential, whoever's it is. */
export function findCredential(credentialId: string): Sql {
  return sql`SELECT *, expires_at > clock_timestamp() AS unexpired FROM credentials
    WHERE credential_id = ${credentialId}`;
}

/** A member's credentials that are neither revoked nor past their end. */
export function activeCredentials(memberId: string): Sql {
  return sql`SELECT *, true AS unexpired FROM credentials WHERE member_id = ${memberId}
    AND state = 'active' AND expires_at > clock_timestamp()`;
}

/** Credentials past their end whose expiry the log does not tell yet. */
export function overdueCredentials(limit: number): Sql {
  return sql`SELECT credential_id, member_id FROM credentials
    WHERE state = 'active' AND expires_at <= clock_timestamp() ORDER BY expires_at LIMIT ${limit}`;
}
