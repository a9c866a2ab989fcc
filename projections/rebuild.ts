import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { EventCatalogue, RecordedEvent } from '../services/eventstore/event.ts';
import { mergeLists } from '../services/eventstore/merge.ts';
import type { Sql } from '../services/eventstore/sql.ts';
import { pipeline } from '../services/postgres/pipeline.ts';
import { BY_INDEX } from '../services/postgres.ts';
import { type Projection, projector } from './projection.ts';

const PAGE = 1000;
/** Rows of one statement at most. */
const ROWS = 64;
const CLOSE_ENOUGH = 2000;
const SWAP_ATTEMPTS = 200;

export interface Rebuilt {
  events: number;
}

/**
 * Makes every read model again from the log, in a schema of its own, and swaps the tables in, while
 * the service runs: writers wait only for the last events and the swap.
 */
export async function rebuild(
  url: string,
  catalogue: EventCatalogue,
  projections: readonly Projection[],
  progress: (position: number, last: number) => void = () => undefined,
): Promise<Rebuilt> {
  // A connection of its own: no deadline of a request holds for it, and its lock ends with it.
  const client = new pg.Client({ connectionString: url, pipeline: true });
  const reader = new pg.Client({ connectionString: url });
  await Promise.all([client.connect(), reader.connect()]);
  const connections = { client, reader };
  try {
    await client.query(`SELECT pg_advisory_lock(hashtext('rebuild'))`);
    // Nothing is lost with a page that a crash takes: the next rebuild begins anew.
    await client.query('SET synchronous_commit = off');
    // The tables grow from nothing: a plan that scans them would be wrong after a page.
    await client.query(BY_INDEX);
    await client.query('SET enable_hashjoin = off');
    await client.query('SET enable_mergejoin = off');
    const searches = await makeTables(client, projections);
    const each = projections.map(statementsOf);
    let done = 0;
    let events = 0;
    let searchable = false;
    for (;;) {
      const last = await settledPosition(client);
      events += await fill(connections, catalogue, each, done, last, progress);
      const close = last - done < CLOSE_ENOUGH;
      done = last;
      if (!close) continue;
      if (searchable) break;
      await makeSearches(client, searches);
      searchable = true;
    }
    const tables = projections.flatMap((projection) => projection.tables);
    for (let attempt = 1; ; attempt++) {
      try {
        await client.query('BEGIN');
        await client.query('SET LOCAL synchronous_commit = on');
        await lockEverything(client, tables);
        events += await fill(
          connections,
          catalogue,
          each,
          done,
          await lastPosition(client),
          progress,
        );
        await swap(client, tables);
        await client.query('COMMIT');
        break;
      } catch (error) {
        await client.query('ROLLBACK');
        if ((error as { code?: string }).code !== '55P03' || attempt === SWAP_ATTEMPTS) throw error;
        await sleep(50);
      }
    }
    await client.query('DROP SCHEMA rebuild CASCADE');
    return { events };
  } finally {
    await Promise.all([client.end(), reader.end()]);
  }
}

interface Connections {
  client: pg.Client;
  reader: pg.Client;
}

/** Commands take the same locks in orders of their own, so this gives way instead of waiting. */
async function lockEverything(client: pg.Client, tables: readonly string[]): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = '300ms'`);
  const names = tables.map((table) => `public.${table}`).join(', ');
  await client.query(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
  await client.query('LOCK TABLE public.events IN SHARE ROW EXCLUSIVE MODE');
}

async function swap(client: pg.Client, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    await client.query(`DROP TABLE public.${table}`);
    await client.query(`ALTER TABLE rebuild.${table} SET SCHEMA public`);
  }
}

async function makeTables(
  client: pg.Client,
  projections: readonly Projection[],
): Promise<string[]> {
  await client.query('DROP SCHEMA IF EXISTS rebuild CASCADE');
  await client.query('CREATE SCHEMA rebuild');
  for (const table of projections.flatMap(({ tables }) => tables))
    await client.query(`CREATE TABLE rebuild.${table} (LIKE public.${table} INCLUDING ALL)`);
  await client.query('SET search_path = rebuild, public');
  for (const { table, columns } of projections.flatMap(({ texts }) => texts ?? []))
    for (const column of columns)
      await client.query(`ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0`);
  for (const statement of projections.flatMap(({ seed }) => seed ?? []))
    await client.query(statement.text, statement.values);
  return dropSearches(client);
}

/**
 * Drops the indexes of searches, by which no event finds its rows, and answers how to make them
 * again: at once, on full tables, they cost a fraction.
 */
async function dropSearches(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT i.oid::regclass::text AS name, pg_get_indexdef(i.oid) AS definition
     FROM pg_class i JOIN pg_am a ON a.oid = i.relam
     WHERE i.relkind = 'i' AND i.relnamespace = 'rebuild'::regnamespace AND a.amname <> 'btree'`,
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  return rows.map(({ definition }) => definition);
}

async function makeSearches(client: pg.Client, definitions: readonly string[]): Promise<void> {
  for (const definition of definitions) await client.query(definition);
  // LIKE and a definition leave this out: without it ANALYZE would keep copies of texts.
  const { rows: indexes } = await client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class c ON c.oid = indrelid
     WHERE c.relnamespace = 'rebuild'::regnamespace AND indkey[0] = 0`,
  );
  for (const { name } of indexes)
    await client.query(`ALTER INDEX ${name} ALTER COLUMN 1 SET STATISTICS 0`);
}

/**
 * A position below which nothing can still be committed: whoever holds a position holds a lock on
 * the table as well, and this waits for all of those for a moment.
 */
async function settledPosition(client: pg.Client): Promise<number> {
  await client.query('BEGIN');
  await client.query('LOCK TABLE events IN SHARE MODE');
  const position = await lastPosition(client);
  await client.query('COMMIT');
  return position;
}

async function lastPosition(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ last: number }>(
    'SELECT coalesce(max(position), 0) AS last FROM public.events',
  );
  return Number(rows[0]?.last ?? 0);
}

/**
 * Projects what stands after a position, a page in a transaction. While one is written, the next is
 * made into statements and the one after it is read.
 */
async function fill(
  { client, reader }: Connections,
  catalogue: EventCatalogue,
  each: readonly ReturnType<typeof statementsOf>[],
  from: number,
  to: number,
  progress: (position: number, last: number) => void,
): Promise<number> {
  let count = 0;
  let written: Promise<unknown> = Promise.resolve();
  let next = readPage(reader, from, to);
  for (;;) {
    const rows = await next;
    const last = rows.at(-1);
    if (!last) break;
    const position = Number(last.position);
    next = readPage(reader, position, to);
    // Whoever fails meanwhile is heard above, or not waited for where this fails first.
    next.catch(() => undefined);
    const events = rows.map((row) => catalogue.read(row));
    // No two projections share a table, so each may have the whole page before the next.
    const statements = each.flatMap((lists) => mergeLists(lists(events), ROWS));
    await written;
    written = pipeline(client, statements);
    written.catch(() => undefined);
    count += rows.length;
    progress(position, to);
  }
  await written;
  return count;
}

/**
 * What one projection writes for events, in lists that share no table: each list keeps its order.
 * Where a statement names several tables, there is one list.
 */
function statementsOf(projection: Projection): (events: readonly RecordedEvent[]) => Sql[][] {
  const project = projector([projection]);
  const known = new Map<string, string | undefined>();
  const tableOf = ({ name, text }: Sql): string | undefined => {
    if (!known.has(name)) {
      const named = projection.tables.filter((table) => new RegExp(`\\b${table}\\b`).test(text));
      known.set(name, named.length === 1 ? named[0] : undefined);
    }
    return known.get(name);
  };
  return (events) => {
    const statements = project(events);
    const lists = Map.groupBy(statements, tableOf);
    return lists.has(undefined) ? [statements] : [...lists.values()];
  };
}

async function readPage(reader: pg.Client, after: number, to: number): Promise<RecordedEvent[]> {
  const { rows } = await reader.query<RecordedEvent & pg.QueryResultRow>({
    name: 'page',
    text: `SELECT * FROM public.events WHERE position > $1 AND position <= $2
      ORDER BY position LIMIT $3`,
    values: [after, to, PAGE],
  });
  return rows;
}
