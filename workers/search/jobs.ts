import * as types from '../../domain/search/jobs.ts';
import { runs } from '../running/job.ts';
import { splitWordsOfOldRows } from './split-words.ts';

export const searchJobs = [
  runs(types.splitWords, async ({ pool }) => ({ rows: await splitWordsOfOldRows(pool) })),
];
