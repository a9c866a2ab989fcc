import type pg from 'pg';
import type { EventCatalogue, RecordedEvent } from '../../platform/eventstore/event.ts';
import { untilVisibleEverywhere } from '../../platform/eventstore/subscription.ts';
import { mergeBatches } from '../../platform/postgres/batch-statements.ts';
import { isInFailedTransaction, isServerError } from '../../platform/postgres/errors.ts';
import { pipeline } from '../../platform/postgres/pipeline.ts';
import { untilWritersEnd, type Waiting } from '../../platform/postgres/table-locks.ts';
import type { Sql } from '../../platform/sql.ts';
import type { projector } from '../projection.ts';
import type { Session } from './rebuild-session.ts';

/** Positions that one statement reads; a page with more rows than a batch makes the next smaller. */
const MAX_PAGE = 1000;
const MIN_PAGE = 20;
/** Rows that are written together: a page is cut by these, since one event may make hundreds. */
const MAX_ROWS = 20_000;

/**
 * Returns a position below which no transaction can still commit: a transaction that has a position
 * also holds a lock on the table, and this function waits for all those transactions, on every node.
 */
export async function settledPosition(client: pg.Client, waiting: Waiting): Promise<number> {
  const position = await lastPosition(client);
  await untilWritersEnd(client, 'public.events', waiting);
  await untilVisibleEverywhere(client);
  return position;
}

/** The last position that this connection sees; 0 for an empty log. */
export async function lastPosition(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ last: number }>(
    'SELECT coalesce(max(position), 0) AS last FROM public.events',
  );
  return Number(rows[0]?.last ?? 0);
}

/**
 * Projects the events after a position, one batch per transaction. While two batches are sent, of which the server
 * writes one, the next one is converted to statements and the next page is read. Returns the number of events.
 */
export async function fill(
  { client, reader }: Session,
  catalogue: EventCatalogue,
  each: readonly ReturnType<typeof projector>[],
  from: number,
  to: number,
  progress: (position: number, last: number) => void,
): Promise<number> {
  let count = 0;
  let earlier: Promise<unknown> = Promise.resolve();
  let latest: Promise<unknown> = Promise.resolve();
  let page = MAX_PAGE;
  let next = readPage(reader, from, to, page);
  for (;;) {
    const { rows, end: position } = await next;
    if (rows.length === 0) break;
    next = readPage(reader, position, to, page);
    // Prevents an unhandled rejection: an `await` reports the failure, unless this loop fails
    // first.
    next.catch(() => undefined);
    let batches = 0;
    const events = rows.map((row) => catalogue.read(row));
    for (const batch of batchesOf(events, each)) {
      batches++;
      await earlier;
      earlier = latest;
      latest = write(client, batch, each);
      latest.catch(() => undefined);
    }
    page =
      batches > 1 ? Math.max(MIN_PAGE, Math.ceil(page / batches)) : Math.min(MAX_PAGE, 2 * page);
    count += rows.length;
    progress(position, to);
  }
  // The later batch may fail because the earlier one did, whose error is the cause.
  await earlier;
  await latest;
  return count;
}

interface Batch {
  events: RecordedEvent[];
  statements: Sql[];
}

/** Writes a batch. If the database refuses it, writes its events one by one, to name the one at fault. */
async function write(
  client: pg.Client,
  { events, statements }: Batch,
  each: readonly ReturnType<typeof projector>[],
): Promise<void> {
  try {
    await pipeline(client, statements);
  } catch (error) {
    if (!isServerError(error)) throw error;
    for (const event of events) {
      const own = each.flatMap((project) => project([event]));
      await pipeline(client, own).catch((cause: unknown) => {
        // The batch was part of a transaction, which takes no further statement.
        if (isInFailedTransaction(cause)) throw error;
        refuse(event, cause);
      });
    }
    throw error;
  }
}

function refuse({ event_id: id, type, position }: RecordedEvent, cause: unknown): never {
  const text = `Cannot rebuild from event ${id} (${type} at position ${position} of the log)`;
  throw new Error(text, { cause });
}

function toStatements(project: ReturnType<typeof projector>, event: RecordedEvent): Sql[] {
  try {
    return project([event]);
  } catch (cause) {
    return refuse(event, cause);
  }
}

/**
 * The statements of the events, cut after `MAX_ROWS` rows. No two projections share a table, so each
 * projects all events of a batch before the next one.
 */
function* batchesOf(
  events: readonly RecordedEvent[],
  each: readonly ReturnType<typeof projector>[],
): Generator<Batch> {
  let made: Sql[][] = each.map(() => []);
  let from = 0;
  let rows = 0;
  for (const [index, event] of events.entries()) {
    for (const [at, project] of each.entries()) {
      const statements = toStatements(project, event);
      made[at]?.push(...statements);
      rows += statements.length;
    }
    if (rows < MAX_ROWS) continue;
    yield { events: events.slice(from, index + 1), statements: made.flatMap(mergeBatches) };
    made = each.map(() => []);
    from = index + 1;
    rows = 0;
  }
  yield { events: events.slice(from), statements: made.flatMap(mergeBatches) };
}

interface EventPage {
  rows: (RecordedEvent & pg.QueryResultRow)[];
  /** The position that the page reaches. */
  end: number;
}

/** Reads the next range of positions that holds events; no events are left if the page is empty. */
async function readPage(
  reader: pg.Client,
  after: number,
  to: number,
  page: number,
): Promise<EventPage> {
  for (let from = after; from < to; ) {
    const end = Math.min(from + page, to);
    const { rows } = await reader.query<EventPage['rows'][number]>({
      name: 'page',
      text: `SELECT * FROM public.events WHERE position > $1 AND position <= $2 ORDER BY position`,
      values: [from, end],
    });
    if (rows.length > 0) return { rows, end };
    const first = await firstPosition(reader, end, to);
    if (first === null) break;
    from = first - 1;
  }
  return { rows: [], end: to };
}

async function firstPosition(reader: pg.Client, after: number, to: number): Promise<number | null> {
  const { rows } = await reader.query<{ first: number | null }>({
    name: 'first',
    text: `SELECT min(position) AS first FROM public.events WHERE position > $1 AND position <= $2`,
    values: [after, to],
  });
  const first = rows[0]?.first ?? null;
  return first === null ? null : Number(first);
}
