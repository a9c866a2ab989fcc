import { sendNotices } from '../../domain/notices/jobs.ts';
import { callReceivers } from '../../services/notices/call-receivers.ts';
import { runs } from '../running/job.ts';

export const noticesJobs = [
  runs(sendNotices, async (core, _data, logger) => {
    const { failures, ...postponed } = await callReceivers(core);
    if (Object.keys(failures).length > 0) logger.warn({ failures }, 'receivers were not reached');
    return { failed: Object.keys(failures).length, ...postponed };
  }),
];
