import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { EventCatalogue } from '../../platform/eventstore/event.ts';
import { takeAdvisoryLock } from '../../platform/postgres/advisory-lock.ts';
import { readEngine } from '../../platform/postgres/engine.ts';
import { appliedMigrations, requireReleased } from '../../platform/postgres/migrate.ts';
import { type Projection, projector } from '../projection.ts';
import {
  type Comparison,
  compareTable,
  type Difference,
  type KeyColumn,
  tableKeys,
} from './compare-tables.ts';
import { fill, lastPosition, settledPosition } from './fill.ts';
import { makeTemporaryTables } from './rebuilt-tables.ts';
import { planByIndex, withTwoConnections } from './two-connections.ts';

const NAME = 'service verify';
/** Memory for the temporary tables, and for the join that compares two tables. */
const MEMORY = '64MB';
const SCHEMA_CHANGED =
  'The schema was changed meanwhile, so nothing was proven: run the command again';

export interface ProveOptions {
  /** Called after each page of the log with the position reached and the last one. */
  progress?: (position: number, last: number) => void;
  /** Called for each row that differs from the log. */
  found?: (difference: Difference) => void;
  interrupted?: AbortSignal;
  /** Called with one line, again and again, while another process proves the read models. */
  tell?: (line: string) => void;
}

/** What a comparison of the served read models with the log has found. */
export interface Proof {
  /** Events that were projected. */
  events: number;
  /** Rows that were compared. */
  rows: number;
  /** Rows that differ, those included that were not passed to `found`. */
  divergent: number;
  /** The tables with such rows. */
  tables: string[];
  seconds: number;
  /** How long the longest snapshot was held. */
  longestSnapshotSeconds: number;
}

/**
 * Compares every read model with the log while the service runs, and changes nothing: see
 * docs/operating/live-proof.md. Projects the log into temporary tables, and then compares each read model in a
 * snapshot that sees the same events as the served tables. So a snapshot is held for one comparison, however
 * long the log is. Throws if a migration is pending or the schema changes meanwhile.
 */
export async function proveReadModels(
  url: string,
  catalogue: EventCatalogue,
  projections: readonly Projection[],
  options: ProveOptions = {},
): Promise<Proof> {
  return inProvingSession(url, catalogue, projections, options, (session) => session.proveAll());
}

export type ProvingSession = ReturnType<typeof createSession>;

/** Runs `work` with temporary tables that are filled from the log. */
export async function inProvingSession<Result>(
  url: string,
  catalogue: EventCatalogue,
  projections: readonly Projection[],
  options: ProveOptions,
  work: (session: ProvingSession) => Promise<Result>,
): Promise<Result> {
  const { interrupted, tell } = options;
  return withTwoConnections(url, NAME, interrupted, async (client, reader) => {
    await takeAdvisoryLock(client, 'verify-live', tell && { tell });
    await prepare(client, projections);
    return work(createSession(client, reader, catalogue, projections, options));
  });
}

async function prepare(client: pg.Client, projections: readonly Projection[]): Promise<void> {
  await requireReleased((text) => client.query(text));
  const { distributed } = await readEngine(client);
  if (distributed)
    throw new Error(
      'The nodes of a cluster have no common snapshot, so read models cannot be compared while the service runs: verify a backup',
    );
  await client.query(`SET temp_buffers = '${MEMORY}'; SET work_mem = '${MEMORY}'`);
  await planByIndex(client);
  await makeTemporaryTables(client, projections);
  // A read-only transaction can write temporary tables alone, so no statement reaches a served table.
  await client.query('SET default_transaction_read_only = on');
}

function createSession(
  client: pg.Client,
  reader: pg.Client,
  catalogue: EventCatalogue,
  projections: readonly Projection[],
  { progress = () => undefined, found = () => undefined }: ProveOptions,
) {
  const each = projections.map((projection) => projector([projection]));
  const ask = (text: string) => client.query(text);
  let done = 0;
  let events = 0;

  /** Projects the events below a position from which on transactions may still commit. */
  async function catchUp(): Promise<void> {
    const last = await settledPosition(reader, { tell: () => undefined });
    events += await fill({ client, reader }, catalogue, each, done, last, progress);
    done = last;
  }

  /** Projects what the transaction of the client sees beyond these events. Returns the position reached. */
  async function catchUpInTransaction(): Promise<number> {
    const last = await lastPosition(client);
    await fill({ client, reader: client }, catalogue, each, done, last, () => undefined);
    for (const { keepLost } of projections)
      if (keepLost) await client.query(keepLost.text.replaceAll('rebuild.', 'pg_temp.'));
    return last;
  }

  /** Notes that the transaction of `catchUpInTransaction` was committed. */
  function committedUpTo(position: number): void {
    done = position;
  }

  /** Compares the tables of a read model in one snapshot, whose events are then forgotten again. */
  async function compare(
    { texts = [], tables }: Projection,
    keys: ReadonlyMap<string, readonly KeyColumn[]>,
  ): Promise<{ compared: Comparison[]; seconds: number }> {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const began = performance.now();
    try {
      await catchUpInTransaction();
      await joinFreely(client);
      const compared: Comparison[] = [];
      for (const table of tables)
        compared.push(
          await compareTable(
            client,
            table,
            keys.get(table) ?? [],
            texts.filter((text) => text.table === table),
          ),
        );
      return { compared, seconds: (performance.now() - began) / 1000 };
    } finally {
      await client.query('ROLLBACK');
    }
  }

  async function proveAll(): Promise<Proof> {
    const started = performance.now();
    const migrations = await appliedMigrations(ask);
    const keys = await tableKeys(client);
    await catchUp();
    await client.query(
      `ANALYZE ${projections.flatMap(({ tables }) => tables.map((table) => `pg_temp.${table}`)).join(', ')}`,
    );
    const proof = { rows: 0, divergent: 0, tables: [] as string[], longestSnapshotSeconds: 0 };
    for (const projection of projections) {
      await catchUp();
      const { compared, seconds } = await compare(projection, keys);
      proof.longestSnapshotSeconds = Math.max(proof.longestSnapshotSeconds, seconds);
      for (const { table, rows, divergent, differences } of compared) {
        proof.rows += rows;
        proof.divergent += divergent;
        if (divergent > 0) proof.tables.push(table);
        differences.forEach(found);
      }
    }
    if (!isDeepStrictEqual(await appliedMigrations(ask), migrations))
      throw new Error(SCHEMA_CHANGED);
    return { ...proof, events, seconds: (performance.now() - started) / 1000 };
  }

  return { client, reader, catchUp, catchUpInTransaction, committedUpTo, proveAll };
}

/** Allows the plans for whole tables that projecting an event must not use. */
export const joinFreely = (client: pg.Client): Promise<unknown> =>
  client.query(`SELECT set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
    set_config('enable_mergejoin', 'on', true), set_config('plan_cache_mode', 'auto', true)`);
