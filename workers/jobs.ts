import { accountJobs } from './account/jobs.ts';
import { casesJobs } from './cases/jobs.ts';
import { credentialsJobs } from './credentials/jobs.ts';
import { guestbookJobs } from './guestbook/jobs.ts';
import { limitsJobs } from './limits/jobs.ts';
import { membershipJobs } from './membership/jobs.ts';
import { moderationJobs } from './moderation/jobs.ts';
import { noticesJobs } from './notices/jobs.ts';
import { passkeysJobs } from './passkeys/jobs.ts';
import { provingJobs } from './proving/jobs.ts';
import type { RunnableJob } from './running/job.ts';
import { screeningJobs } from './screening/jobs.ts';
import { sealJobs } from './seal/jobs.ts';
import { searchJobs } from './search/jobs.ts';

/** Every job that the service runs. */
export const JOBS: readonly RunnableJob[] = [
  ...membershipJobs,
  ...credentialsJobs,
  ...passkeysJobs,
  ...casesJobs,
  ...limitsJobs,
  ...guestbookJobs,
  ...moderationJobs,
  ...screeningJobs,
  ...accountJobs,
  ...searchJobs,
  ...noticesJobs,
  ...sealJobs,
  ...provingJobs,
];
