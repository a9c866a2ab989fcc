import { readsEvents } from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';

/** An event of the log without its personal part, which alone can hold the text of a note. */
export interface AuditRow
  extends Pick<
    RecordedEvent,
    'position' | 'event_id' | 'stream_id' | 'stream_version' | 'type' | 'actor' | 'recorded_at'
  > {
  data: Record<string, unknown>;
}

/**
 * What moderators did, what was done to them, and decisions on notes: the condition of the index
 * events_audit and of those of the filters, word for word.
 */
export const IS_AUDITED = `(actor->>'type' = 'moderator'
  OR type IN ('ModeratorAdded', 'ModeratorRevoked', 'ModeratorTokenRotated', 'NoteApproved',
    'NoteRejected', 'NoteRemoved', 'NoteRestored', 'NoteEscalated', 'NoteErased'))`;

/** What the operator did on the command line: the condition of the index events_audit_of_operator. */
const BY_OPERATOR = `actor->>'type' = 'operator'`;

const auditedBy = (condition: string) =>
  `SELECT position, event_id, stream_id, stream_version, type, data, actor, recorded_at
    FROM events WHERE ${condition} AND position > $1 AND position <= $2`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The end of a stream's name by which the index finds a subject: a hyphen and a UUID. */
const END_LENGTH = 37;

/** Which entries are wanted; each filter is optional. */
export interface AuditFilters {
  /** The id of the moderator who acted. Their names are in another table than the log. */
  moderatorId?: string | undefined;
  /** The code of the policy that a decision names. */
  policy?: string | undefined;
  /** The id of a note, a record or a moderator, or the code of a policy. */
  subject?: string | undefined;
}

/** Reads audited events after a position, up to and including another. */
export function auditPage(
  order: 'oldest' | 'newest',
  after: number,
  to: number,
  limit: number,
  { moderatorId, policy, subject }: AuditFilters = {},
): Sql<AuditRow> {
  const values: unknown[] = [after, to, limit];
  const value = (given: unknown, type = 'text') => `$${values.push(given)}::${type}`;
  const conditions: string[] = [];
  if (moderatorId !== undefined)
    conditions.push(`actor->>'type' = 'moderator' AND actor->>'id' = ${value(moderatorId)}`);
  if (policy !== undefined) conditions.push(`data->>'policy' = ${value(policy)}`);
  if (subject !== undefined) {
    const end = UUID.test(subject) ? `-${subject}` : `policy-${subject}`;
    conditions.push(`right(stream_id, ${END_LENGTH}) = right(${value(end)}, ${END_LENGTH})`);
  }
  const ordered = `ORDER BY position ${order === 'oldest' ? 'ASC' : 'DESC'} LIMIT $3`;
  const branch = (audited: string) =>
    `${[auditedBy(audited), ...conditions].join(' AND ')} ${ordered}`;
  // The operator is no moderator.
  const text =
    moderatorId === undefined
      ? `(${branch(IS_AUDITED)}) UNION ALL (${branch(BY_OPERATOR)}) ${ordered}`
      : branch(IS_AUDITED);
  return readsEvents(named(text, values));
}

/** Reads what a moderator did before a position, newest first. */
export function actsOf(moderatorId: string, before: number, limit: number): Sql<AuditRow> {
  return readsEvents(sql`SELECT position, event_id, stream_id, stream_version, type, data, actor, recorded_at
    FROM events WHERE actor->>'type' = 'moderator' AND actor->>'id' = ${moderatorId}::text
      AND position < ${before}::bigint
    ORDER BY position DESC LIMIT ${limit}::int`);
}

/**
 * Reads the last event by which a moderator decided on a record or its reports, among the latest 100
 * acts of moderators on it. `author` owns both streams.
 */
export function lastDecision(
  author: string,
  recordId: string,
  streams: { record: string; reports: string },
): Sql<RecordedEvent> {
  return readsEvents(
    named(
      `SELECT * FROM (SELECT owner_id, stream_id, stream_version, position, event_id, type, data,
        NULL AS personal, actor, recorded_at
      FROM events WHERE ${IS_AUDITED} AND owner_id = $1
        AND right(stream_id, ${END_LENGTH}) = right('-' || $2::text, ${END_LENGTH})
      ORDER BY position DESC LIMIT 100) acts
    WHERE (stream_id = $3 OR stream_id = $4) AND actor->>'type' = 'moderator'
      AND actor->>'id' IS NOT NULL
    ORDER BY position DESC LIMIT 1`,
      [author, recordId, streams.record, streams.reports],
    ),
  );
}
