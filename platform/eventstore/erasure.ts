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
 * Reads the next batch of events to erase in a member's own streams: what the member wrote, and what
 * moderators, guests and the service wrote to the member. The texts of other members stay.
 */
export function ownedToErase(
  owner: string,
  kept: KeptEvents,
  { stream_id, stream_version }: LogPosition,
  limit: number,
): Sql<LogPosition> {
  return sql`SELECT stream_id, stream_version FROM events
    WHERE owner_id = ${owner} AND (stream_id, stream_version) > (${stream_id}, ${stream_version}::int)
      AND personal IS NOT NULL
      AND (actor->>'type' <> 'member' OR actor->>'id' = ${owner}::text)
      AND NOT (stream_id IN (SELECT unnest(${kept.streams}::text[]))
        AND (type = ANY(${kept.types}) OR actor->>'id' IS DISTINCT FROM ${owner}::text))
    ORDER BY stream_id, stream_version LIMIT ${limit}`;
}

/** Erases events of one owner. */
export function eraseEvents(owner: string, events: readonly LogPosition[]): Sql {
  return sql`UPDATE events SET personal = NULL
    WHERE owner_id = ${owner} AND (stream_id, stream_version) IN (SELECT * FROM unnest(
      ${events.map(({ stream_id }) => stream_id)}::text[],
      ${events.map(({ stream_version }) => stream_version)}::int[]))`;
}

/** A member's words in rows of other owners: how to find a batch, and to erase those of one owner. */
export interface WordsElsewhere<Row extends { owner_id: string }> {
  find(memberId: string, limit: number): Sql<Row>;
  erase(owner: string, rows: readonly Row[]): Sql;
}

/** The statements that erase what `find` returned: one per owner. */
export function eraseByOwner<Row extends { owner_id: string }>(
  { erase }: WordsElsewhere<Row>,
  rows: readonly Row[],
): Sql[] {
  return [...Map.groupBy(rows, ({ owner_id }) => owner_id)].map(([owner, own]) =>
    erase(owner, own),
  );
}

/** A member's texts in streams of other members, such as a report on another's note. */
export const EVENT_WORDS: WordsElsewhere<LogPosition & { owner_id: string }> = {
  find: (memberId, limit) => sql`SELECT owner_id, stream_id, stream_version FROM events
    WHERE personal IS NOT NULL AND actor->>'type' = 'member'
      AND actor->>'id' <> owner_id::text AND actor->>'id' = ${memberId} LIMIT ${limit}`,
  erase: eraseEvents,
};
