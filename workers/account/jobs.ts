import * as types from '../../domain/account/jobs.ts';
import { runs } from '../running/job.ts';
import { eraseMembers } from './erase-member.ts';

export const accountJobs = [runs(types.eraseMember, eraseMembers)];
