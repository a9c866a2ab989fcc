import { PgBoss } from 'pg-boss';
import { JOBS_SCHEMA } from '../postgres/migrate.ts';

/** For who only calls it: it neither migrates nor supervises nor works, which workers do. */
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
  // What is asked of it rejects by itself; a stale cache of its queues does no harm.
  boss.on('error', () => undefined);
  return boss;
}
