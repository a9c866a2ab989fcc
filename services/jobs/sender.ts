import { PgBoss } from 'pg-boss';
import { named, type Sql } from '../eventstore/sql.ts';
import type { Job } from '../eventstore/store.ts';
import { JOBS_SCHEMA } from '../migrate.ts';
import { makeQueues } from './queues.ts';

/**
 * Turns jobs into the statements that enqueue them, to be run inside a command's transaction. It
 * neither migrates nor supervises nor works: workers do.
 */
export async function jobSender(url: string) {
  const boss = new PgBoss({
    connectionString: url,
    application_name: 'jobs-sender',
    schema: JOBS_SCHEMA,
    max: 1,
    supervise: false,
    schedule: false,
    migrate: false,
    createSchema: false,
  });
  // Only its cache of queues is refreshed in the background; a stale one does no harm.
  boss.on('error', () => undefined);
  const close = () => boss.stop({ graceful: false });
  try {
    await boss.start();
    await makeQueues(boss);
  } catch (error) {
    await close();
    throw error;
  }

  async function enqueue({ queue, data, startAfter }: Job): Promise<Sql> {
    const captured: Sql[] = [];
    const executeSql = async (text: string, values: unknown[] = []) => {
      captured.push(named(text, values));
      return { rows: [{ id: 'captured' }] };
    };
    const delay = startAfter === undefined ? {} : { startAfter };
    await boss.send(queue, data, { ...delay, db: { executeSql } });
    const [statement] = captured;
    if (!statement || captured.length > 1)
      throw new Error(`${queue}: one statement expected, ${captured.length} made`);
    return statement;
  }

  return { enqueue, close };
}
