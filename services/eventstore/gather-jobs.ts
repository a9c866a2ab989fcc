import type { Job } from './plan.ts';

type Lists = Record<string, readonly unknown[]>;

/** The jobs of one transaction: of each queue whose jobs gather only one, with the lists of all. */
export function gatherJobs(jobs: readonly Job[]): Job[] {
  const gathered = new Map<string, Job>();
  for (const job of jobs.filter(({ gathers }) => gathers)) {
    const lists: Lists = { ...(gathered.get(job.queue)?.data as Lists) };
    for (const [name, list] of Object.entries(job.data as Lists))
      lists[name] = [...(lists[name] ?? []), ...list];
    gathered.set(job.queue, { ...job, data: lists });
  }
  return [...jobs.filter(({ gathers }) => !gathers), ...gathered.values()];
}
