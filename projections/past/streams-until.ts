import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { named, type Sql } from '../../platform/sql.ts';
import type { Moment } from './moment.ts';

/** A stream of the log, with its owner. */
export interface StreamName {
  owner_id: string;
  stream_id: string;
}

/** SQL: whether the event counts at the moment. */
const COUNTS = '(event.position <= $3 AND event.recorded_at <= $4)';

/**
 * SQL: the last version of the stream `given` that counts, or 0. Positions and times rise with the versions of a
 * stream, so a binary search finds it with few lookups, however long the stream went on.
 */
const LAST = `(WITH RECURSIVE search (low, high) AS (
      (SELECT CASE WHEN ${COUNTS} THEN stream_version ELSE 0 END, stream_version
        FROM public.events event
        WHERE owner_id = given.owner_id AND stream_id = given.stream_id
        ORDER BY stream_version DESC LIMIT 1)
      UNION ALL
      SELECT CASE WHEN ${COUNTS} THEN event.stream_version ELSE low END,
        CASE WHEN ${COUNTS} THEN high ELSE (low + high + 1) / 2 - 1 END
      FROM search CROSS JOIN LATERAL (SELECT position, recorded_at, stream_version FROM public.events
        WHERE owner_id = given.owner_id AND stream_id = given.stream_id
          AND stream_version >= (low + high + 1) / 2 ORDER BY stream_version LIMIT 1) event
      WHERE low < high)
    SELECT low FROM search ORDER BY high - low LIMIT 1)`;

/** SQL: the ids of the members whose erasure has begun; the log loses their words one after the other. */
const ENDING = `ARRAY(SELECT member_id FROM public.members WHERE ending IN ('keeps_notes', 'erases_notes'))`;

/** SQL: the words of an event, unless they are of a member whose erasure has begun. */
const WORDS = `CASE WHEN (owner_id = ANY (ending) OR actor->>'id' = ANY (ending::text[])) IS NOT TRUE
      THEN personal END`;

/**
 * Copies the events of the streams up to the moment into the temporary table of the log and returns them: at
 * most `limit`, which is also the most that are read.
 */
export const copyStreams = (
  streams: readonly StreamName[],
  { position, until }: Moment,
  limit: number,
): Sql<RecordedEvent> =>
  named(
    `WITH given AS MATERIALIZED (SELECT owner_id, stream_id, ${LAST} AS last
      FROM (SELECT DISTINCT * FROM unnest($1::uuid[], $2::text[]) AS named (owner_id, stream_id)) given)
    INSERT INTO pg_temp.events (owner_id, stream_id, stream_version, position, event_id, type, data,
      personal, actor, recorded_at)
    SELECT copied.* FROM (SELECT ${ENDING} AS ending) members, given CROSS JOIN LATERAL (
      SELECT owner_id, stream_id, stream_version, position, event_id, type, data, ${WORDS} AS personal,
        actor, recorded_at
      FROM public.events
      WHERE owner_id = given.owner_id AND stream_id = given.stream_id
        AND stream_version BETWEEN 1 AND given.last ORDER BY stream_version LIMIT $5) copied
    LIMIT $5 RETURNING *`,
    [
      streams.map(({ owner_id }) => owner_id),
      streams.map(({ stream_id }) => stream_id),
      position,
      until ?? 'infinity',
      limit,
    ],
  );
