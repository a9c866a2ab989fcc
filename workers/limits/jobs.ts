import * as types from '../../platform/limits/jobs.ts';
import { runs } from '../running/job.ts';
import { sweepRateCounters } from './sweep-rate-counters.ts';

export const limitsJobs = [runs(types.sweepRateCounters, sweepRateCounters)];
