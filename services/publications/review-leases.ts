import { type Sql, sql } from '../../platform/sql.ts';
import type { RecordType } from './record-type.ts';

/** Deletes the review leases on records that were decided or withdrawn: their review is over. */
export const dropLeases = (type: 'note' | RecordType, ids: readonly string[]): Sql =>
  sql`DELETE FROM note_leases WHERE note_id = ANY(${ids}::uuid[]) AND subject_type = ${type}`;
