import { PgBoss } from 'pg-boss';
import { addressConfig } from '../postgres/connection.ts';
import { JOBS_SCHEMA } from '../postgres/migrate.ts';

/**
 * The registry of pg-boss would record a process every half minute, for which it looks at the event loop fifty times
 * a second; `/metrics` has the same.
 */
export const WITHOUT_VITALS = { registerInstance: false } as const;

/** Creates a pg-boss client that only calls: workers migrate the schema, supervise and run jobs. */
export function callerBoss(url: string, application: string): PgBoss {
  const boss = new PgBoss({
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
  return boss;
}
