import { defineSweep, type Jobs } from '../job.ts';
import { lapseCaseClaims } from './expire-case-claims.ts';

export const casesJobs = {
  'lapse-case-claims': defineSweep(30, lapseCaseClaims),
} satisfies Jobs;
