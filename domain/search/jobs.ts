import { defineSweep } from '../../platform/jobs/job-type.ts';

export const splitWords = defineSweep('split-words', 60);
