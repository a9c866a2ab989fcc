import * as types from '../../domain/passkeys/jobs.ts';
import { runs } from '../running/job.ts';
import { sweepChallenges } from './sweep-challenges.ts';

export const passkeysJobs = [runs(types.sweepChallenges, sweepChallenges)];
