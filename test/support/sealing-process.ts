import { configOrExit } from '../../platform/config.ts';
import { asJob, JOB_MS } from '../../platform/postgres/request-deadline.ts';
import { createCore } from '../../services/compose.ts';
import { sealJobs } from '../../workers/seal/jobs.ts';

// Runs the job that seals the log once, as a worker does, so that a test can kill it meanwhile.
const core = await createCore(configOrExit(), 'worker', undefined, JOB_MS);
const [job] = sealJobs;
await asJob(async () => job?.run(core, {}, undefined as never));
await core.close();
