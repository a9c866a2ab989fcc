import { PgBoss } from 'pg-boss';
import { JOBS_SCHEMA } from '../postgres/migrate.ts';

/** Creates a pg-boss client that only calls: workers migrate the schema, supervise and run jobs. */
export function callerBoss(connectionString: string, application_name: string): PgBoss {
  const boss = new PgBoss({
    connectionString,
    application_name,
    schema: JOBS_SCHEMA,
    max: 1,
    supervise: false,
    schedule: false,
    migrate: false,
    createSchema: false,
  });
  // Calls reject with their errors themselves, and a stale cache of the queues is harmless.
  boss.on('error', () => undefined);
  return boss;
}
