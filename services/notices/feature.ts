import { sendNotices } from '../../domain/notices/jobs.ts';
import type { Feature } from '../feature.ts';

/** Calls to addresses of the operator when moderators, or the operator, are needed. */
export const noticesFeature: Feature<object> = { jobs: [sendNotices] };
