import { z } from 'zod';
import { defineJob, type Jobs } from '../job.ts';
import { eraseMembers } from './erase-member.ts';

export const accountJobs = {
  // A deletion enqueues a job for its member; the scheduled job finds what a lost job left.
  'erase-member': defineJob({
    schema: z.object({ member_id: z.uuid().optional() }),
    every: 3600,
    run: eraseMembers,
  }),
} satisfies Jobs;
