import type { RecordType } from '../../domain/publications/words.ts';
import { type Sql, sql } from '../../platform/sql.ts';

const expiry = (lease?: string): string => (lease ? `${lease}.expires_at` : 'expires_at');

/**
 * SQL that is true for a live review lease, by the database's clock; an expired lease does not hold
 * its item. `lease` is the table or its alias.
 */
export const isLiveLease = (lease?: string): string => `${expiry(lease)} > clock_timestamp()`;

/** SQL that is true for an expired review lease. */
export const isExpiredLease = (lease?: string): string => `${expiry(lease)} <= clock_timestamp()`;

/** Deletes the review leases on items that were decided or withdrawn: their review is over. */
export const dropLeases = (type: 'note' | RecordType | 'member', ids: readonly string[]): Sql =>
  sql`DELETE FROM note_leases WHERE note_id = ANY(${ids}::uuid[]) AND subject_type = ${type}`;
