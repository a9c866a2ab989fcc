import { proveReadModels } from '../../domain/proving/jobs.ts';
import { runs } from '../running/job.ts';
import { proveAndRecord } from './prove-read-models.ts';

export const provingJobs = [runs(proveReadModels, proveAndRecord)];
