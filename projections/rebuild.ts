import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { EventCatalogue, RecordedEvent } from '../services/eventstore/event.ts';
import { type Projection, projector } from './projection.ts';

const BATCH = 2000;
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
  await client.connect();
  try {
    await client.query(`SELECT pg_advisory_lock(hashtext('rebuild'))`);
    await makeTables(client, projections);
    const project = projector(projections);
    let done = 0;
    let events = 0;
    for (;;) {
      const last = await settledPosition(client);
      events += await fill(client, catalogue, project, done, last, progress);
      const close = last - done < CLOSE_ENOUGH;
      done = last;
      if (close) break;
    }
    const tables = projections.flatMap((projection) => projection.tables);
    for (let attempt = 1; ; attempt++) {
      try {
        await client.query('BEGIN');
        await lockEverything(client, tables);
        events += await fill(
          client,
          catalogue,
          project,
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
    await client.end();
  }
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

async function makeTables(client: pg.Client, projections: readonly Projection[]) {
  await client.query('DROP SCHEMA IF EXISTS rebuild CASCADE');
  await client.query('CREATE SCHEMA rebuild');
  for (const table of projections.flatMap(({ tables }) => tables))
    await client.query(`CREATE TABLE rebuild.${table} (LIKE public.${table} INCLUDING ALL)`);
  await client.query('SET search_path = rebuild, public');
  // LIKE leaves these out: without them ANALYZE would keep copies of texts.
  const { rows: indexes } = await client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class c ON c.oid = indrelid
     WHERE c.relnamespace = 'rebuild'::regnamespace AND indexprs IS NOT NULL`,
  );
  for (const { name } of indexes)
    await client.query(`ALTER INDEX ${name} ALTER COLUMN 1 SET STATISTICS 0`);
  for (const { table, columns } of projections.flatMap(({ texts }) => texts ?? []))
    for (const column of columns)
      await client.query(`ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0`);
  for (const statement of projections.flatMap(({ seed }) => seed ?? []))
    await client.query(statement.text, statement.values);
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

async function fill(
  client: pg.Client,
  catalogue: EventCatalogue,
  project: ReturnType<typeof projector>,
  from: number,
  to: number,
  progress: (position: number, last: number) => void,
): Promise<number> {
  let position = from;
  let count = 0;
  while (position < to) {
    const { rows } = await client.query<RecordedEvent & pg.QueryResultRow>(
      'SELECT * FROM public.events WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3',
      [position, to, BATCH],
    );
    if (rows.length === 0) break;
    const statements = rows.flatMap((row) => project(catalogue.read(row)));
    await Promise.all(statements.map((statement) => client.query(statement)));
    position = Number(rows.at(-1)?.position);
    count += rows.length;
    progress(position, to);
  }
  return count;
}
