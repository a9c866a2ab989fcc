import t from 'tap';
import { jobTypes } from '../../services/features.ts';
import { JOBS } from '../../workers/jobs.ts';

t.test('each type of job has one function that runs it', async (t) => {
  const queues = (types: readonly { queue: string }[]) =>
    types.map(({ queue }) => queue).toSorted();
  t.same(queues(JOBS), queues(jobTypes));
  t.equal(new Set(queues(jobTypes)).size, jobTypes.length, 'no queue twice');
});
