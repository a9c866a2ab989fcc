import type { SpanContext } from '@opentelemetry/api';
import type { PgBoss } from 'pg-boss';
import type { EventStore } from '../eventstore/event-store.ts';
import type { Job } from '../eventstore/plan.ts';
import { addressConfig } from '../postgres/connection.ts';
import { StorageUnavailable } from '../postgres/errors.ts';
import { JOBS_SCHEMA } from '../postgres/migrate.ts';
import { named, type Sql } from '../sql.ts';
import { parseTraceparent } from '../telemetry/trace.ts';
import type { JobType } from './job-type.ts';
import { makeQueues } from './queues.ts';

/**
 * The registry of pg-boss would record a process every half minute, for which it looks at the event loop fifty times
 * a second; `/metrics` has the same.
 */
export const WITHOUT_VITALS = { registerInstance: false } as const;

/** Starts a pg-boss client that only calls: workers migrate the schema, supervise and run jobs. */
export async function startCaller(url: string, application: string): Promise<PgBoss> {
  // Loaded late, since most commands send no job.
  const { PgBoss: Boss } = await import('pg-boss');
  const boss = new Boss({
    ...addressConfig(url, application),
    schema: JOBS_SCHEMA,
    max: 1,
    supervise: false,
    schedule: false,
    migrate: false,
    createSchema: false,
    // What the queues are changes only with a release.
    queueCacheIntervalSeconds: 86_400,
    ...WITHOUT_VITALS,
    // Spans of pg-boss would have the messages of errors; workers/worker.ts has one for each job.
    openTelemetry: { enabled: false },
  });
  // Calls reject with their errors themselves, and a stale cache of the queues is harmless.
  boss.on('error', () => undefined);
  try {
    await boss.start();
  } catch (error) {
    await boss.stop({ graceful: false });
    throw error;
  }
  return boss;
}

/** A command has a job, but the sender has not started. */
class NotStarted extends Error {}

/**
 * Creates a function that turns a job into the statement that enqueues it, to run in a command's
 * transaction. `start` connects and creates the queues of `types` where they are missing.
 */
export function jobSender(url: string, types: readonly JobType[]) {
  let started: Promise<PgBoss> | undefined;
  let ready: PgBoss | undefined;

  function start(): Promise<PgBoss> {
    started ??= startSender(url, types).then(
      (boss) => {
        ready = boss;
        return boss;
      },
      (error) => {
        started = undefined;
        throw error;
      },
    );
    return started;
  }

  async function close(): Promise<void> {
    const boss = await started?.catch(() => undefined);
    await boss?.stop({ graceful: false });
  }

  async function enqueue(job: Job): Promise<Sql> {
    const { queue, startAfter, priority } = job;
    const captured: Sql[] = [];
    const executeSql = async (text: string, values: unknown[] = []) => {
      captured.push(named(text, values));
      return { rows: [{ id: 'captured' }] };
    };
    const options = {
      ...(startAfter === undefined ? {} : { startAfter }),
      ...(priority === undefined ? {} : { priority }),
    };
    if (!ready) throw new NotStarted(`${queue}: the sender has not started`);
    await ready.send(queue, toStored(job), { ...options, db: { executeSql } });
    const [statement] = captured;
    if (!statement || captured.length > 1)
      throw new Error(`${queue}: one statement expected, ${captured.length} made`);
    return statement;
  }

  /**
   * Starts the sender when a command has a job, and executes that command again: to start in its transaction would keep the locks
   * of the command, and may take longer than the command has time.
   */
  function startingLate(store: EventStore): EventStore {
    const execute: EventStore['execute'] = async (plan, execution) => {
      try {
        return await store.execute(plan, execution);
      } catch (error) {
        if (!(error instanceof NotStarted)) throw error;
      }
      await start().catch((cause: unknown) => {
        throw new StorageUnavailable('the job queue does not start', { cause });
      });
      return store.execute(plan, execution);
    };
    return { ...store, execute };
  }

  return { start, startingLate, enqueue, close };
}

async function startSender(url: string, types: readonly JobType[]): Promise<PgBoss> {
  const boss = await startCaller(url, 'jobs-sender');
  try {
    await makeQueues(boss, types);
  } catch (error) {
    await boss.stop({ graceful: false });
    throw error;
  }
  return boss;
}

/** A job as pg-boss stores it: its data, and the traces in a field that no job's data may use. */
export function toStored({ data, traceIds = [] }: Job): Record<string, unknown> {
  return traceIds.length > 0 ? { ...data, trace_ids: traceIds } : data;
}

/**
 * Separates the data of a stored job, which its handler gets, from its traces: their ids, for the log, and the spans that
 * enqueued it.
 */
export function fromStored(stored: unknown): {
  data: unknown;
  traceIds: string[] | undefined;
  causes: SpanContext[];
} {
  const { trace_ids: traces, ...data } = (stored ?? {}) as { trace_ids?: string[] };
  const ids = traces?.map((trace) => parseTraceparent(trace)?.traceId ?? trace);
  return {
    data,
    traceIds: ids && [...new Set(ids)],
    causes: (traces ?? []).flatMap((trace) => parseTraceparent(trace) ?? []),
  };
}
