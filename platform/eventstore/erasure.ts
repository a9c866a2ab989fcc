import { type Sql, sql } from '../sql.ts';

/** The position in an owner's streams where the last batch ended. */
export interface LogPosition {
  stream_id: string;
  stream_version: number;
}

/** The events whose personal data stays when a member's texts are erased. */
export interface KeptEvents {
  streams: readonly string[];
  /** Types of the member's own events in these streams that keep their personal data. */
  types: readonly string[];
}

/** Erases the names and texts in all events of these streams, including those of other actors. */
export function eraseStreams(owner: string, streams: readonly string[]): Sql {
  return sql`UPDATE events SET personal = NULL
    WHERE owner_id = ${owner} AND stream_id = ANY(${streams}) AND personal IS NOT NULL`;
}

/**
 * Erases the next batch in a member's own streams: what the member wrote, and what moderators,
 * guests and the service wrote to the member. The texts of other members stay. Returns one row, the
 * position that the batch reached, or no row if nothing is left.
 */
export function eraseOwned(
  owner: string,
  kept: KeptEvents,
  { stream_id, stream_version }: LogPosition,
  limit: number,
): Sql<LogPosition> {
  return sql`WITH batch AS MATERIALIZED (
      SELECT stream_id, stream_version FROM events
      WHERE owner_id = ${owner} AND (stream_id, stream_version) > (${stream_id}, ${stream_version}::int)
        AND personal IS NOT NULL
        AND (actor->>'type' <> 'member' OR actor->>'id' = ${owner}::text)
        AND NOT (stream_id IN (SELECT unnest(${kept.streams}::text[]))
          AND (type = ANY(${kept.types}) OR actor->>'id' IS DISTINCT FROM ${owner}::text))
      ORDER BY stream_id, stream_version LIMIT ${limit}),
    erased AS (
      UPDATE events e SET personal = NULL FROM batch b WHERE e.owner_id = ${owner}
        AND e.stream_id = b.stream_id AND e.stream_version = b.stream_version)
    SELECT stream_id, stream_version FROM batch ORDER BY stream_id DESC, stream_version DESC LIMIT 1`;
}

/**
 * Erases a batch of a member's texts in streams of other members, such as a report on another's
 * note. Returns one row per event.
 */
export function eraseElsewhere(memberId: string, limit: number): Sql {
  return sql`UPDATE events SET personal = NULL WHERE position = ANY(ARRAY(
      SELECT position FROM events WHERE personal IS NOT NULL AND actor->>'type' = 'member'
        AND actor->>'id' <> owner_id::text AND actor->>'id' = ${memberId} LIMIT ${limit}))
    RETURNING 1`;
}
