import { sealLog } from '../../domain/seal/jobs.ts';
import { sealCommitted } from '../../services/seal/seal-log.ts';
import { runs } from '../job.ts';

export const sealJobs = [runs(sealLog, (core) => sealCommitted(core))];
