import { defineSweep } from '../../platform/jobs/job-type.ts';

/** Seals what was committed since the last run. Many events share a run, so that a leaf tells no time. */
export const sealLog = defineSweep('seal-log', 60);
