import type { RecordType } from '../domain/publications/words.ts';
import { named, type Sql, sql } from '../platform/sql.ts';

/** When a decision made a record public again, and which decisions did; migration 0011 has both, verbatim. */
const REVERSED_AT = 'coalesce(undone_at, decided_at)';
const REVERSED = "decision = 'restored' OR decision = 'removed' AND undone_at IS NOT NULL";

/** When something changed; null if it never did. */
export interface ChangeRow {
  at: Date | null;
}

/** Reads when records became public again; one that never was taken down has no row. */
export function recordsRestored(
  type: RecordType,
  ids: readonly string[],
): Sql<{ id: string; at: Date }> {
  return named(
    `SELECT given.id, restored.at FROM unnest($2::uuid[]) given (id), LATERAL (
      SELECT max(${REVERSED_AT}) AS at FROM (
          SELECT decision, decided_at, undone_at FROM record_decisions
          WHERE subject_type = $1 AND subject_id = given.id OFFSET 0) one
        WHERE ${REVERSED}
    ) restored WHERE restored.at IS NOT NULL`,
    [type, ids],
  );
}

/** Reads when the subjects of activity entries became public, if that was after the entry. */
export function subjectsRestored(entryIds: readonly string[]): Sql<{ id: string; at: Date }> {
  return named(
    `SELECT a.entry_id AS id, since.at FROM activity a, LATERAL (
      SELECT CASE a.subject_type WHEN 'note' THEN (SELECT greatest(n.settled_at, p.settled_at)
          FROM notes n LEFT JOIN notes p ON p.note_id = n.parent_id WHERE n.note_id = a.subject_id)
        ELSE (SELECT max(${REVERSED_AT}) FROM record_decisions
          WHERE subject_type = a.subject_type AND subject_id = a.subject_id
            AND (${REVERSED})) END AS at
    ) since
    WHERE a.entry_id IN (SELECT unnest($1::uuid[])) AND since.at > a.occurred_at`,
    [entryIds],
  );
}

/**
 * Reads when something last became public again or ceased to be. A feed that was changed by that may
 * show no trace of it: an entry came back beyond its page, or one was an approval that was undone.
 */
export function lastReversal(): Sql<ChangeRow> {
  return named(`SELECT greatest(
      (SELECT max(settled_at) FROM notes WHERE state = 'approved' AND settled_at > approved_at),
      (SELECT max(gone_at) FROM notes WHERE gone_at IS NOT NULL),
      (SELECT max(${REVERSED_AT}) FROM record_decisions
        WHERE ${REVERSED})) AS at`);
}

/** Reads when a record last became public again. */
export function lastRecordRestored(): Sql<ChangeRow> {
  return named(`SELECT max(${REVERSED_AT}) AS at FROM record_decisions WHERE ${REVERSED}`);
}

/**
 * Reads when records of a member, or notes with replies by the member, last became public again. `OFFSET 0` keeps the
 * replies from a plan that reads an index of all replies.
 */
export function lastReversalOfMember(memberId: string): Sql<ChangeRow> {
  return named(
    `SELECT greatest(
      (SELECT max(p.settled_at)
        FROM (SELECT parent_id FROM notes WHERE member_id = $1 AND state = 'approved' OFFSET 0) n
          CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = n.parent_id OFFSET 0) p
        WHERE n.parent_id IS NOT NULL AND p.state = 'approved' AND p.settled_at > p.approved_at),
      (SELECT max(${REVERSED_AT}) FROM record_decisions
        WHERE author_id = $1
          AND (${REVERSED}))) AS at`,
    [memberId],
  );
}

/** Reads when the state or the removal of any case last changed. */
export function lastCaseChange(): Sql<ChangeRow> {
  return sql`SELECT max(updated_at) AS at FROM cases`;
}

/** Reads since when the service has tables: when the feed of an empty list changed. */
export function serviceSince(): Sql<ChangeRow> {
  return sql`SELECT min(applied_at) AS at FROM schema_migrations`;
}
