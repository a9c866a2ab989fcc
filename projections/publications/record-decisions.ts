import type { RecordType } from '../../domain/publications/words.ts';
import * as reportEvents from '../../domain/reports/events.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type KeysetPosition, START_OLDEST } from '../../platform/keyset-cursor.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { defineProjection } from '../projection.ts';
import { type RecordKind, recordHandlers } from './record-events.ts';

/** Decisions of moderators on published records; an undo finds its record here. */
export const recordDecisions = (kinds: readonly RecordKind[]) =>
  defineProjection(reportEvents, {
    name: 'record-decisions',
    tables: ['record_decisions'],
    texts: [{ table: 'record_decisions', columns: ['message'], member: 'author_id' }],
    on: {
      RecordReportsDismissed: (event) =>
        decided(event, event.data.subject.type, event.data.subject.id, 'kept'),
      ...recordHandlers(kinds, {
        removed: (event, type, id) => decided(event, type, id, 'removed'),
        restored,
        notified,
      }),
    },
  });

const insertDecision = defineInsert('record_decisions', {
  event_id: 'uuid',
  subject_type: 'text',
  subject_id: 'uuid',
  author_id: 'uuid',
  moderator_id: 'uuid',
  decision: 'text',
  policy: 'text',
  message: 'text',
  decided_at: 'timestamptz',
  claimed_at: 'timestamptz',
  told_at: 'timestamptz',
});

function decided(
  { event_id, owner_id, actor, data, personal, recorded_at }: RecordedEvent,
  type: RecordType,
  id: string,
  decision: RecordDecisionRow['decision'],
): Sql {
  const { policy, claimed_at } = data as { policy?: string; claimed_at?: string | null };
  const { message } = (personal ?? {}) as { message?: string | null };
  return insertDecision({
    event_id,
    subject_type: type,
    subject_id: id,
    author_id: owner_id,
    moderator_id: actor.id,
    decision,
    policy,
    message,
    decided_at: recorded_at,
    claimed_at,
    // Kept reports announce themselves.
    told_at: decision === 'kept' ? recorded_at : null,
  });
}

function restored(event: RecordedEvent, type: RecordType, id: string): Sql {
  const { of, undone } = event.data as { of: string; undone: boolean };
  return undone
    ? sql`UPDATE record_decisions SET undone_at = ${event.recorded_at} WHERE event_id = ${of}`
    : decided(event, type, id, 'restored');
}

function notified({ data, recorded_at }: RecordedEvent): Sql {
  const { of } = data as { of: string };
  return sql`UPDATE record_decisions SET told_at = ${recorded_at} WHERE event_id = ${of}`;
}

export interface RecordDecisionRow {
  event_id: string;
  subject_type: RecordType;
  subject_id: string;
  moderator_id: string | null;
  decision: 'removed' | 'restored' | 'kept';
  policy: string | null;
  message: string | null;
  decided_at: Date;
  undone_at: Date | null;
  told_at: Date | null;
}

/** Why a record is not public, as its own author may know it. */
export interface NotifiedDecision {
  decision: { policy: string; message: string | null } | null;
}

/**
 * Joins the removal in force once its author may know of it: after the undo window, whose length is
 * `seconds`. Until then the record reads as published.
 */
export function joinTold(type: RecordType, id: string, removed: string, seconds: string): string {
  return `LEFT JOIN LATERAL (SELECT decision AS decided, decided_at,
        jsonb_build_object('policy', policy, 'message', message) AS decision
      FROM record_decisions WHERE subject_type = '${type}' AND subject_id = ${id}
        AND decision <> 'kept' AND undone_at IS NULL
      ORDER BY decided_at DESC, event_id DESC LIMIT 1) told
    ON ${removed} AND decided = 'removed'
      AND decided_at + make_interval(secs => ${seconds}) <= now()`;
}

/** The state of a record, given what `joinTold` found. */
export const NOTIFIED_STATE = `CASE WHEN state = 'removed' AND decision IS NULL THEN 'published'
  ELSE state END AS state`;

interface OwnRecords {
  type: RecordType;
  table: string;
  /** The columns with the id of the record and the id of its member. */
  id: string;
  member: string;
  /** The condition under which a removal that was not reversed still applies to the record. */
  removed: string;
  columns: string;
}

/** A member's own record, with its columns as exported. */
export interface OwnRow {
  id: string;
  place: string;
}

/**
 * Defines a read of a member's own records as the member may see them, oldest first; at most
 * `limit` after a position.
 */
export function ownRecords<Row extends { place: string }>({
  type,
  table,
  id,
  member,
  removed,
  columns,
}: OwnRecords) {
  const text = `SELECT ${columns}, decision,
      to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
    FROM ${table} ${joinTold(type, id, removed, '$2')}
    WHERE ${member} = $1 AND (created_at, ${id}) > ($3::timestamptz, $4::uuid)
    ORDER BY created_at, ${id} LIMIT $5`;
  return (
    memberId: string,
    limit: number,
    after: KeysetPosition = START_OLDEST,
    undoSeconds: number,
  ): Sql<Row> => named(text, [memberId, undoSeconds, after.at, after.id, limit]);
}

export function findRecordDecision(eventId: string): Sql<RecordDecisionRow> {
  return sql`SELECT * FROM record_decisions WHERE event_id = ${eventId}`;
}

export interface RemovalOutcome {
  event_id: string;
  subject_id: string;
  undone_at: Date | null;
  /** Whether a later decision on the record followed. */
  superseded: boolean;
}

/** What became of removals, by their events. */
export function removalOutcomes(eventIds: readonly string[]): Sql<RemovalOutcome> {
  return sql`SELECT event_id, subject_id, undone_at, event_id <> (SELECT last.event_id
      FROM record_decisions last WHERE last.subject_type = d.subject_type
        AND last.subject_id = d.subject_id
      ORDER BY last.decided_at DESC, last.event_id DESC LIMIT 1) AS superseded
    FROM record_decisions d WHERE event_id = ANY(${eventIds}::uuid[])`;
}

/** The latest removal of a record that was not undone, if no later decision followed it. */
export function lastRemoval(type: RecordType, id: string): Sql<RecordDecisionRow> {
  return named(
    `SELECT * FROM (SELECT * FROM record_decisions WHERE subject_type = $1 AND subject_id = $2
      ORDER BY decided_at DESC, event_id DESC LIMIT 1) last
    WHERE decision = 'removed' AND undone_at IS NULL`,
    [type, id],
  );
}
