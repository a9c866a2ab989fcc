import { type Sql, sql } from '../sql.ts';

/** Where the last batch ended in an owner's part of the log. */
export interface LogPlace {
  stream_id: string;
  stream_version: number;
}

/** What stays in the log of a member whose words go: these events of these streams. */
export interface Kept {
  streams: readonly string[];
  /** Of the member's own events in these streams, those of these types stay. */
  types: readonly string[];
}

/** Names and texts of whole streams, whoever wrote them. */
export function eraseStreams(owner: string, streams: readonly string[]): Sql {
  return sql`UPDATE events SET personal = NULL
    WHERE owner_id = ${owner} AND stream_id = ANY(${streams}) AND personal IS NOT NULL`;
}

/**
 * The next batch of a member's own streams: erases what the member wrote and what was said to the
 * member. Other members' words in them are their own and stay. One row: how far it came; none when
 * there is no more.
 */
export function eraseOwned(
  owner: string,
  kept: Kept,
  { stream_id, stream_version }: LogPlace,
  limit: number,
): Sql<LogPlace> {
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

/** A member's words in streams of others, such as a report on another's note; one row for each. */
export function eraseElsewhere(memberId: string, limit: number): Sql {
  return sql`UPDATE events SET personal = NULL WHERE position = ANY(ARRAY(
      SELECT position FROM events WHERE personal IS NOT NULL AND actor->>'type' = 'member'
        AND actor->>'id' <> owner_id::text AND actor->>'id' = ${memberId} LIMIT ${limit}))
    RETURNING 1`;
}
