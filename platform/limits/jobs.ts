import { defineSweep } from '../jobs/job-type.ts';

export const sweepRateCounters = defineSweep('sweep-rate-counters', 3600);
