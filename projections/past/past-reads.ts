import type pg from 'pg';
import type { EventCatalogue, RecordedEvent } from '../../platform/eventstore/event.ts';
import { mergeBatches } from '../../platform/postgres/batch-statements.ts';
import { createTurns } from '../../platform/postgres/bounded-reads.ts';
import { rollBack } from '../../platform/postgres/connection.ts';
import { pipeline } from '../../platform/postgres/pipeline.ts';
import { runRead } from '../../platform/postgres/query.ts';
import type { Reads } from '../../platform/postgres/reads.ts';
import { isRefusal, type Refusal } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { type Projection, projector } from '../projection.ts';
import { findMoment, type Moment, type PastMoment, tooManyEvents } from './moment.ts';
import { copyStreams, type StreamName } from './streams-until.ts';

/** The most events that an answer about the past may need. */
export const MAX_PAST_EVENTS = 5000;

/** Reads of the past that a process runs at the same time, and how long another one waits for its turn. */
const MAX_CONCURRENT = 2;
const WAIT_MS = 1000;

/** What an answer about the past depends on. */
export interface PastScope {
  /** The read models' tables that the answer reads; all others are read as they are now. */
  tables: readonly string[];
  /** Tables whose rows are not in the log, such as leases; they are read as empty. */
  unrecorded: readonly string[];
  /** Finds the streams on which these tables depend; none if there is no such item. */
  streams(moment: Moment, find: Reads['query']): Promise<readonly StreamName[]>;
  /** Further streams that the events of the first ones name. */
  further?(events: readonly RecordedEvent[]): readonly StreamName[];
}

export type PastRefusal = Refusal<'invalid_request'>;

/** Runs `work` with the reads of a past moment; `gone` ends the wait for a turn. */
export type ReadPast = <Result>(
  moment: PastMoment,
  scope: PastScope,
  work: (reads: Reads) => Promise<Result>,
  gone: AbortSignal,
) => Promise<Result | PastRefusal>;

interface PastDeps {
  pool: pg.Pool;
  catalogue: EventCatalogue;
  projections: readonly Projection[];
}

const BEGIN = sql`BEGIN ISOLATION LEVEL REPEATABLE READ`;

/**
 * Reads what stood at an earlier moment, without what was erased since. In one transaction, which is rolled
 * back, temporary tables hide those of the read models and of the log, the ordinary projections fill them with
 * the events up to the moment, and the ordinary statements read them: see docs/architecture/past.md. Throws
 * `Overloaded` if no turn comes in time.
 */
export function createPastReads({ pool, catalogue, projections }: PastDeps): ReadPast {
  const takeTurn = createTurns(MAX_CONCURRENT);
  return async (asked, scope, work, gone) => {
    const endTurn = await takeTurn(WAIT_MS, gone);
    try {
      return await runRead(pool, (client) =>
        inTransaction(client, async () => {
          const find = queryOn(client, (statement) => statement);
          const moment = await findMoment(find, asked);
          if (isRefusal(moment)) return moment;
          const streams = await scope.streams(moment, find);
          const past = projections.filter(({ tables }) =>
            tables.some((table) => scope.tables.includes(table)),
          );
          await hideTables(client, [
            ...past.flatMap(({ tables }) => tables),
            ...scope.unrecorded,
            'events',
          ]);
          const events = await copyEvents(client, streams, scope, moment);
          if (isRefusal(events)) return events;
          await project(
            client,
            past,
            events.map((event) => catalogue.read(event)),
          );
          return work(readsAt(client, moment));
        }),
      );
    } finally {
      endTurn();
    }
  };
}

async function inTransaction<Result>(
  client: pg.PoolClient,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    await pipeline(client, [BEGIN]);
    return await work();
  } finally {
    await rollBack(client);
  }
}

/**
 * A statement without a name: the server prepares it again, because one that was prepared before would still
 * read the table that a temporary one hides.
 */
const unnamed = <Row>(statement: Sql<Row>): Sql<Row> => ({ ...statement, name: '' });

const queryOn =
  (client: pg.PoolClient, convert: <Row>(statement: Sql<Row>) => Sql<Row>): Reads['query'] =>
  async <Row>(statement: Sql<Row>) =>
    (await pipeline(client, [unnamed(convert(statement))]))[0] as Row[];

/** The reads of the transaction, whose clock shows the moment. */
function readsAt(client: pg.PoolClient, { at }: Moment): Reads {
  const clock = `'${at}'::timestamptz`;
  const atMoment = <Row>(statement: Sql<Row>): Sql<Row> => ({
    ...statement,
    text: statement.text.replaceAll(/\b(?:clock_timestamp|now)\(\)/g, clock),
  });
  return {
    query: queryOn(client, atMoment),
    snapshot: async (statements) =>
      (await pipeline(
        client,
        statements.map((statement) => unnamed(atMoment(statement))),
      )) as never,
  };
}

/** From here on, the transaction can write temporary tables alone. */
async function hideTables(client: pg.PoolClient, tables: readonly string[]): Promise<void> {
  const copies = tables.map(
    (table) =>
      `CREATE TEMPORARY TABLE ${table} (LIKE public.${table} INCLUDING DEFAULTS INCLUDING GENERATED
        INCLUDING INDEXES)`,
  );
  await client.query(
    [...copies, 'SET LOCAL search_path = pg_temp, public', 'SET TRANSACTION READ ONLY'].join(';'),
  );
}

async function copyEvents(
  client: pg.PoolClient,
  streams: readonly StreamName[],
  scope: PastScope,
  moment: Moment,
): Promise<RecordedEvent[] | PastRefusal> {
  const copy = async (names: readonly StreamName[], limit: number) =>
    (
      await pipeline(client, [unnamed(copyStreams(names, moment, limit))])
    )[0] as never as RecordedEvent[];
  const first = await copy(streams, MAX_PAST_EVENTS + 1);
  const further = scope.further?.(first) ?? [];
  const more =
    further.length > 0 && first.length <= MAX_PAST_EVENTS
      ? await copy(further, MAX_PAST_EVENTS + 1 - first.length)
      : [];
  const events = [...first, ...more];
  if (events.length > MAX_PAST_EVENTS) return tooManyEvents(MAX_PAST_EVENTS);
  return events.sort((one, other) => one.position - other.position);
}

async function project(
  client: pg.PoolClient,
  projections: readonly Projection[],
  events: readonly RecordedEvent[],
): Promise<void> {
  // No two projections share a table, so each projects all events before the next one.
  const statements = projections.flatMap((projection) => [
    ...(projection.seed ?? []),
    ...mergeBatches(projector([projection])(events)),
  ]);
  await pipeline(client, statements.map(unnamed));
}
