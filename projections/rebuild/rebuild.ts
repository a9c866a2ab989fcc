import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { EventCatalogue } from '../../platform/eventstore/event.ts';
import { appliedMigrations, requireReleased } from '../../platform/postgres/migrate.ts';
import {
  distributeCopies,
  distributedTables,
  swapTables,
} from '../../platform/postgres/table-copies.ts';
import { type Waiting, withLocks } from '../../platform/postgres/table-locks.ts';
import { type Projection, projector } from '../projection.ts';
import { fill, lastPosition, settledPosition } from './fill.ts';
import { inSession, type Session } from './rebuild-session.ts';
import { copyUnlogged, makeIndexes, makeTables, SCHEMA } from './rebuilt-tables.ts';

const CLOSE_ENOUGH = 2000;
const SCHEMA_CHANGED =
  'The schema was changed meanwhile, so no read model was replaced: run the rebuild again';

export interface Rebuilt {
  events: number;
  /** Whose texts were kept from the former tables, because the log has lost them. */
  kept: string[];
}

export interface Options {
  /** Called after each page with the position reached and the last one. */
  progress?: (position: number, last: number) => void;
  /** Called once, with the blocking processes, when the rebuild first waits long for others. */
  waits?: (pids: readonly number[]) => void;
  interrupted?: AbortSignal;
  /** Called with one line, again and again, while another rebuild runs. */
  tell?: (line: string) => void;
}

/**
 * Rebuilds every read model from the log, in a separate schema, and swaps the tables in while the
 * service runs: writers wait only for the last events and the swap. Throws if a migration is
 * pending or the schema changes meanwhile.
 */
export async function rebuild(
  url: string,
  catalogue: EventCatalogue,
  projections: readonly Projection[],
  { progress = () => undefined, waits = () => undefined, interrupted, tell }: Options = {},
): Promise<Rebuilt> {
  let told = false;
  const waiting: Waiting = {
    tell(pids) {
      if (!told) waits(pids);
      told = true;
    },
  };
  const work = (session: Session) => fromLog(session, catalogue, projections, progress, waiting);
  return inSession(url, work, interrupted, tell && { tell });
}

async function fromLog(
  session: Session,
  catalogue: EventCatalogue,
  projections: readonly Projection[],
  progress: (position: number, last: number) => void,
  waiting: Waiting,
): Promise<Rebuilt> {
  const { client, reader } = session;
  const ask = (text: string) => client.query(text);
  await requireReleased(ask);
  const migrations = () => appliedMigrations(ask);
  const copied = await migrations();
  const { layout, indexes } = await makeTables(client, projections);
  let each = projections.map((projection) => projector([projection]));
  let done = 0;
  let events = 0;
  const fillTo = (last: number) => fill(session, catalogue, each, done, last, progress);
  const catchUp = async () => {
    for (let close = false; !close; ) {
      const last = await settledPosition(client, waiting);
      const count = await fillTo(last);
      events += count;
      close = last - done < CLOSE_ENOUGH;
      done = last;
    }
  };
  await catchUp();
  await makeIndexes(client, indexes);
  const tables = projections.flatMap((projection) => projection.tables);
  const distributed = await distributedTables(client, tables);
  if (distributed.size > 0) {
    await distributeCopies(client, distributed, SCHEMA);
    each = projections.map((projection) => projector([projection], { distributed: true }));
  }
  // Connections plan their statements for the new tables right after the swap.
  await client.query(`ANALYZE ${tables.map((table) => `${SCHEMA}.${table}`).join(', ')}`);
  await catchUp();
  const lastEvents = async () => {
    await client.query('SET LOCAL synchronous_commit = on');
    if (!isDeepStrictEqual(await migrations(), copied)) throw new Error(SCHEMA_CHANGED);
    const count = await fillTo(await lastPosition(client));
    const kept = await keepLost(client, projections);
    for (const { text } of copyUnlogged()) await client.query(text);
    await swapTables(client, tables, SCHEMA, layout);
    return { count, kept };
  };
  const again = { ...waiting, meanwhile: catchUp };
  const { count, kept } = await withLocks(client, reader, locksOn(tables), lastEvents, again);
  await client.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
  return { events: events + count, kept };
}

async function keepLost(client: pg.Client, projections: readonly Projection[]): Promise<string[]> {
  const found: string[] = [];
  for (const statement of projections.flatMap((projection) => projection.keepLost ?? [])) {
    const { rows } = await client.query<{ kept: string }>(statement.text);
    found.push(...rows.map(({ kept }) => kept));
  }
  return found;
}

function locksOn(tables: readonly string[]): string[] {
  const names = tables.map((table) => `public.${table}`).join(', ');
  return [
    `LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`,
    'LOCK TABLE public.events IN SHARE ROW EXCLUSIVE MODE',
  ];
}
