import type { Job } from '../eventstore/plan.ts';
import { named, type Sql } from '../sql.ts';
import { callerBoss } from './boss.ts';
import type { JobType } from './job-type.ts';
import { makeQueues } from './queues.ts';
import { toStored } from './stored-job.ts';

/**
 * Creates a function that turns a job into the statement that enqueues it, to run in a command's
 * transaction. Creates the queues of `types` where they are missing.
 */
export async function jobSender(url: string, types: readonly JobType[]) {
  const boss = callerBoss(url, 'jobs-sender');
  const close = () => boss.stop({ graceful: false });
  try {
    await boss.start();
    await makeQueues(boss, types);
  } catch (error) {
    await close();
    throw error;
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
    await boss.send(queue, toStored(job), { ...options, db: { executeSql } });
    const [statement] = captured;
    if (!statement || captured.length > 1)
      throw new Error(`${queue}: one statement expected, ${captured.length} made`);
    return statement;
  }

  return { enqueue, close };
}
