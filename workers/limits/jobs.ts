import { defineSweep, type Jobs } from '../job.ts';
import { sweepRateCounters } from './sweep-rate-counters.ts';

export const limitsJobs = {
  'sweep-rate-counters': defineSweep(3600, sweepRateCounters),
} satisfies Jobs;
