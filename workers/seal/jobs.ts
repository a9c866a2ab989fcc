import { sealLog } from '../../domain/seal/jobs.ts';
import { sealCommitted } from '../../services/seal/seal-log.ts';
import { publishCheckpoint } from '../../services/seal/witnesses.ts';
import { runs } from '../running/job.ts';

export const sealJobs = [
  runs(sealLog, async (core, _data, logger) => {
    const result = await sealCommitted(core);
    if (!core.config.sealKey || core.logWatch.isLost() || result.alert) return result;
    const { failures } = await publishCheckpoint(core);
    if (Object.keys(failures).length > 0)
      logger.warn({ failures }, 'witnesses have not co-signed the checkpoint');
    return result;
  }),
];
