import * as types from '../../domain/credentials/jobs.ts';
import { runs } from '../running/job.ts';
import { expireCredentials } from './expire-credentials.ts';

export const credentialsJobs = [runs(types.expireCredentials, expireCredentials)];
