import * as types from '../../domain/cases/jobs.ts';
import { runs } from '../job.ts';
import { lapseCaseClaims } from './expire-case-claims.ts';

export const casesJobs = [runs(types.lapseCaseClaims, lapseCaseClaims)];
