import { defineSweep, type Jobs } from '../job.ts';
import { splitWordsOfOldRows } from './split-words.ts';

export const searchJobs = {
  'split-words': defineSweep(60, async ({ pool }) => ({ rows: await splitWordsOfOldRows(pool) })),
} satisfies Jobs;
