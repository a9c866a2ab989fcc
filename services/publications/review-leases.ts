import { type Sql, sql } from '../../platform/sql.ts';
import type { RecordType } from './record-type.ts';

/** Whoever holds what is decided or gone has nothing left to review. */
export const dropLeases = (type: 'note' | RecordType, ids: readonly string[]): Sql =>
  sql`DELETE FROM note_leases WHERE note_id = ANY(${ids}::uuid[]) AND subject_type = ${type}`;
