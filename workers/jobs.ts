import type { QueueName } from '../platform/jobs/queues.ts';
import { accountJobs } from './account/jobs.ts';
import { casesJobs } from './cases/jobs.ts';
import { credentialsJobs } from './credentials/jobs.ts';
import { guestbookJobs } from './guestbook/jobs.ts';
import type { JobDefinition } from './job.ts';
import { limitsJobs } from './limits/jobs.ts';
import { membershipJobs } from './membership/jobs.ts';
import { moderationJobs } from './moderation/jobs.ts';
import { screeningJobs } from './screening/jobs.ts';
import { searchJobs } from './search/jobs.ts';

/** Every job; platform/jobs/queues.ts defines the retries of each queue. */
export const JOBS: Readonly<Record<QueueName, JobDefinition>> = {
  ...membershipJobs,
  ...credentialsJobs,
  ...casesJobs,
  ...limitsJobs,
  ...guestbookJobs,
  ...moderationJobs,
  ...screeningJobs,
  ...accountJobs,
  ...searchJobs,
};
