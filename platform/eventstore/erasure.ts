import { fault } from '../fault.ts';
import { named, type Sql, sql } from '../sql.ts';
import type { Owner } from './owner.ts';

/** The position in an owner's streams where the last batch ended. */
export interface LogPosition {
  stream_id: string;
  stream_version: number;
}

/** An event with a text under a member's id; `own` if the member wrote it. */
export interface OwnedText extends LogPosition {
  type: string;
  own: boolean;
}

/**
 * Erases the names and texts of one owner's events, and the salts of the sealed log with which a guess at them could be
 * checked: statements of one transaction. `condition` compares columns of `events`, `owner_id` among them, with `values`. A
 * trigger erases salts as well, but a trigger on a node of a cluster does not reach the table.
 */
export function eraseWords(condition: string, values: unknown[]): Sql[] {
  const erase = `UPDATE events SET personal = NULL WHERE ${condition} AND personal IS NOT NULL`;
  if (fault('keep-salt')) return [named(erase, values)];
  return [
    // So that a run which seals the same events ends before or begins after.
    sql`SELECT pg_advisory_xact_lock_shared(hashtext('seal-log'))`,
    named(
      `WITH erased AS (${erase} RETURNING position)
    UPDATE seal_leaves SET words_salt = NULL
    WHERE position = ANY(ARRAY(SELECT position FROM erased)) AND words_salt IS NOT NULL`,
      values,
    ),
  ];
}

/** Erases the names and texts in all events of these streams, including those of other actors. */
export const eraseStreams = ({ id }: Owner, streams: readonly string[]): Sql[] =>
  eraseWords('owner_id = $1 AND stream_id = ANY($2)', [id, streams]);

/** The name of a stream ends with a hyphen and the id of its subject. */
const ID_LENGTH = 37;

/**
 * Reads the next batch of events with texts under a member's id: what the member wrote, and in the
 * member's own streams, of the `kinds` of streams that belong to members, what moderators, guests and
 * the service wrote to the member. The texts of other members are left out, and so are those of the
 * service, a moderator or a guest's note with this id.
 */
export function ownedTexts(
  { id }: Owner<'member'>,
  kinds: readonly string[],
  { stream_id, stream_version }: LogPosition,
  limit: number,
): Sql<OwnedText> {
  return sql`SELECT stream_id, stream_version, type, actor->>'type' = 'member' AS own FROM events
    WHERE owner_id = ${id} AND (stream_id, stream_version) > (${stream_id}, ${stream_version}::int)
      AND personal IS NOT NULL
      AND CASE actor->>'type' WHEN 'member' THEN actor->>'id' = ${id}::text
        ELSE left(stream_id, ${-ID_LENGTH}) IN (SELECT unnest(${kinds}::text[])) END
    ORDER BY stream_id, stream_version LIMIT ${limit}`;
}

/** Erases events that have one `owner_id`. */
export function eraseEvents(ownerId: string, events: readonly LogPosition[]): Sql[] {
  return eraseWords(
    `owner_id = $1
      AND (stream_id, stream_version) IN (SELECT * FROM unnest($2::text[], $3::int[]))`,
    [
      ownerId,
      events.map(({ stream_id }) => stream_id),
      events.map(({ stream_version }) => stream_version),
    ],
  );
}

/** A member's words in rows of other owners: how to find a batch, and to erase those of one owner. */
export interface WordsElsewhere<Row extends { owner_id: string }> {
  find(memberId: string, limit: number): Sql<Row>;
  erase(ownerId: string, rows: readonly Row[]): Sql | Sql[];
}

/** The statements that erase what `find` returned, owner by owner. */
export function eraseByOwner<Row extends { owner_id: string }>(
  { erase }: WordsElsewhere<Row>,
  rows: readonly Row[],
): Sql[] {
  return [...Map.groupBy(rows, ({ owner_id }) => owner_id)].flatMap(([owner, own]) =>
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
