import { type Sql, sql } from '../sql.ts';
import { startCaller } from './boss.ts';
import { DEAD_LETTERS } from './queues.ts';

export interface DeadLetter {
  id: string;
  queue: string;
  failed_at: Date;
  error: string | null;
  data: object;
}

/** Reads the jobs that have used up their retries, oldest first. */
export function deadLetters(): Sql<DeadLetter> {
  return sql`SELECT id, coalesce(source_name, '') AS queue, created_on AS failed_at,
      source_output->>'error' AS error, data
    FROM pgboss.job WHERE name = ${DEAD_LETTERS} AND state IN ('created', 'retry')
    ORDER BY created_on, id`;
}

/** Moves dead letters (all if `ids` is empty) back to their queues; resolves to their number. */
export async function runAgain(url: string, ids: string[]): Promise<number> {
  const boss = await startCaller(url, 'dead-letters');
  try {
    // The first process that sends or runs jobs makes the queues.
    if (!(await boss.getQueue(DEAD_LETTERS))) return 0;
    let moved = 0;
    for (let more = -1; more !== 0; moved += more)
      more = await boss.redrive(DEAD_LETTERS, ids.length > 0 ? { ids } : {});
    return moved;
  } finally {
    await boss.stop({ graceful: false });
  }
}
