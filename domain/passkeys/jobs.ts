import { defineSweep } from '../../platform/jobs/job-type.ts';

export const sweepChallenges = defineSweep('sweep-passkey-challenges', 3600);
