import { defineInsert, defineRead } from '../postgres/batch-statements.ts';
import { named, type Sql, sql } from '../sql.ts';
import { type Actor, currentShape, type NewEvent, type RecordedEvent } from './event.ts';
import type { Owner } from './owner.ts';

/** Events for one stream. `version` is the stream version they were decided on; 0 if it is new. */
export interface Append {
  owner: Owner;
  stream: string;
  version: number;
  actor: Actor;
  events: readonly NewEvent[];
}

/** An append whose actor is that of the command, unless it names another. */
export type OwnAppend = Omit<Append, 'actor'> & { actor?: Actor | undefined };

/** Completes appends with the actor of their command. */
export const attribute = (appends: readonly OwnAppend[], actor: Actor): Append[] =>
  appends.map((append) => ({ ...append, actor: append.actor ?? actor }));

/** The version of a stream, from its events; 0 for a new stream. */
export function streamVersion(events: readonly RecordedEvent[]): number {
  return events.at(-1)?.stream_version ?? 0;
}

/** The columns of an event that its writer gives, with their types: the database assigns `position`. */
export const WRITTEN_COLUMNS = {
  owner_id: 'uuid',
  stream_id: 'text',
  stream_version: 'int',
  event_id: 'uuid',
  type: 'text',
  data: 'jsonb',
  personal: 'jsonb',
  actor: 'jsonb',
  recorded_at: 'timestamptz',
} as const;

const insertEvent = defineInsert('events', WRITTEN_COLUMNS);

/** Inserts an event. The unique index on (owner, stream, version) rejects a concurrent writer. */
export const appendStatement = (event: RecordedEvent): Sql => insertEvent(event);

/** Selects an event, if the transaction that recorded it was committed. */
export const findEvent = (event: RecordedEvent): Sql =>
  sql`SELECT FROM events WHERE owner_id = ${event.owner_id} AND stream_id = ${event.stream_id}
    AND stream_version = ${event.stream_version} AND event_id = ${event.event_id}`;

/** Marks a statement that reads events, which are converted to the current shape of their types. */
export const readsEvents = <Row extends Pick<RecordedEvent, 'type' | 'data'>>(
  statement: Sql<Row>,
): Sql<Row> => ({ ...statement, convert: currentShape<Row> as (row: never) => Row });

const streamEvents = defineRead<RecordedEvent>(
  { owner: 'uuid', stream: 'text' },
  ({ owner, stream }) => `SELECT * FROM events WHERE owner_id = ${owner} AND stream_id = ${stream}
    ORDER BY stream_version`,
);

/** Reads the events of one stream, oldest first. */
export const readStream = ({ id }: Owner, stream: string): Sql<RecordedEvent> =>
  readsEvents(streamEvents({ owner: id, stream }));

const FACTS = `SELECT owner_id, stream_id, stream_version, position, event_id, type, data,
  NULL AS personal, actor, recorded_at FROM events`;

const streamFacts = defineRead<RecordedEvent>(
  { owner: 'uuid', stream: 'text' },
  ({ owner, stream }) => `${FACTS} WHERE owner_id = ${owner} AND stream_id = ${stream}
    ORDER BY stream_version`,
);

/** Reads the events of one stream for a decision, without their personal data, oldest first. */
export const readFacts = ({ id }: Owner, stream: string): Sql<RecordedEvent> =>
  readsEvents(streamFacts({ owner: id, stream }));

/** SQL: the events of a stream from the last one of these types on. */
const sinceReset = (types: readonly string[], owner: string, stream: string): string =>
  `${FACTS} WHERE owner_id = ${owner} AND stream_id = ${stream}
      AND stream_version >= (SELECT stream_version FROM events
        WHERE owner_id = ${owner} AND stream_id = ${stream}
          AND type IN (${types.map((type) => `'${type}'`).join(', ')})
        ORDER BY stream_version DESC LIMIT 1)
      ORDER BY stream_version`;

/**
 * Defines the same read for streams of which some types of events reset the state: from the last such
 * event on, so that a decision costs the same however long the stream is.
 */
export function defineFactsSinceReset(
  types: readonly string[],
): (owner: Owner, stream: string) => Sql<RecordedEvent> {
  const read = defineRead<RecordedEvent>({ owner: 'uuid', stream: 'text' }, ({ owner, stream }) =>
    sinceReset(types, `${owner}`, `${stream}`),
  );
  return ({ id }, stream) => readsEvents(read({ owner: id, stream }));
}

/** Defines the same read for several streams of one owner, one stream after the other. */
export function defineFactsOfStreamsSinceReset(
  types: readonly string[],
): (owner: Owner, streams: readonly string[]) => Sql<RecordedEvent> {
  const text = `SELECT facts.* FROM unnest($2::text[]) WITH ORDINALITY given (stream, turn)
    CROSS JOIN LATERAL (${sinceReset(types, '$1::uuid', 'given.stream')} OFFSET 0) facts
    ORDER BY given.turn, facts.stream_version`;
  return ({ id }, streams) => readsEvents(named(text, [id, streams]));
}

/** Reads several streams of one owner like `readFacts`, one stream after the other. */
export const factsOfStreams = ({ id }: Owner, streams: readonly string[]): Sql<RecordedEvent> =>
  readsEvents(
    named(
      `${FACTS} WHERE owner_id = $1 AND stream_id = ANY($2) ORDER BY stream_id, stream_version`,
      [id, streams],
    ),
  );

const lastOfStream = defineRead<RecordedEvent>(
  { owner: 'uuid', stream: 'text' },
  ({ owner, stream }) => `${FACTS} WHERE owner_id = ${owner} AND stream_id = ${stream}
    ORDER BY stream_version DESC LIMIT 1`,
);

/** Reads the last event of a stream, for commands that need no more than its version. */
export const lastFact = ({ id }: Owner, stream: string): Sql<RecordedEvent> =>
  readsEvents(lastOfStream({ owner: id, stream }));

/** Reads the newest events of a stream, newest first, without their personal data. */
export const newestFacts = (
  { id }: Owner,
  stream: string,
  limit: number,
  { except }: { except: readonly string[] },
): Sql<RecordedEvent> => {
  const excepted = except.map((type) => ` AND type <> '${type}'`).join('');
  return readsEvents(
    named(
      `${FACTS} WHERE owner_id = $1 AND stream_id = $2${excepted}
      ORDER BY stream_version DESC LIMIT $3`,
      [id, stream, limit],
    ),
  );
};

/** Reads the events of a stream from a version on, oldest first, without their personal data. */
export const factsFrom = ({ id }: Owner, stream: string, version: number): Sql<RecordedEvent> =>
  readsEvents(
    named(
      `${FACTS} WHERE owner_id = $1 AND stream_id = $2 AND stream_version >= $3
      ORDER BY stream_version`,
      [id, stream, version],
    ),
  );
