import * as types from '../../domain/cases/jobs.ts';
import { runs } from '../running/job.ts';
import { expireCaseClaims } from './expire-case-claims.ts';

export const casesJobs = [runs(types.lapseCaseClaims, expireCaseClaims)];
