import { deadLetters } from '../../platform/jobs/dead-letters.ts';
import type { Context } from './connection.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Checks that no job has used up its retries. */
export async function checkJobs({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const dead = await ask(deadLetters());
  const [oldest] = dead;
  if (!oldest) return [ok('No job has failed for the last time')];
  return [
    warn(
      `${dead.length} jobs have failed for the last time, the oldest, of the queue ${oldest.queue}, at ${oldest.failed_at.toISOString()}`,
      'npm run dead-letters -- list, and once the cause is mended, npm run dead-letters -- again',
    ),
  ];
}
