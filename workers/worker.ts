import { setTimeout as sleep } from 'node:timers/promises';
import { type SpanContext, SpanKind } from '@opentelemetry/api';
import pg from 'pg';
import { type Job, type JobResult, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { mapConcurrently } from '../platform/concurrency.ts';
import { type Config, configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { fromStored, WITHOUT_VITALS } from '../platform/jobs/boss.ts';
import { jobsTopic, makeQueues, updateQueues } from '../platform/jobs/queues.ts';
import { addressConfig } from '../platform/postgres/connection.ts';
import { isUnavailableReport } from '../platform/postgres/errors.ts';
import { JOBS_SCHEMA } from '../platform/postgres/migrate.ts';
import { asJob, JOB_MS } from '../platform/postgres/request-deadline.ts';
import { onParentGone } from '../platform/supervisor/child.ts';
import { createLogger, toLoggable } from '../platform/telemetry/logger.ts';
import { processMetrics } from '../platform/telemetry/metrics.ts';
import { serveMetrics } from '../platform/telemetry/metrics-server.ts';
import { inSpan, type SpanDescription } from '../platform/telemetry/spans.ts';
import { type Core, createCore } from '../services/compose.ts';
import { databaseMetrics } from '../services/database-metrics.ts';
import { operatePage } from '../services/operate.ts';
import { JOBS } from './jobs.ts';
import { jobMetrics } from './metrics.ts';
import { dailySchedule, listSchedules, type RunnableJob, watchDueJobs } from './running/job.ts';

type JobMetrics = ReturnType<typeof jobMetrics>;

const DRAIN_MS = 20_000;
const LOG_POLL_MS = 500;
/** Jobs of a batch that run at once. */
const CONCURRENCY = 4;
const WORK = {
  // Each poll is a statement of each queue; `watchDueJobs` looks at all of them by one.
  pollingIntervalSeconds: 60,
  batchSize: 10,
  burstWhenBatchFull: true,
  perJobResults: true,
} as const;

async function startJobs(
  config: Config,
  core: Core,
  logger: Logger,
  metrics: JobMetrics,
): Promise<PgBoss> {
  const boss = new PgBoss({
    // Connects directly and not through a pooler, because pg-boss holds session locks.
    ...addressConfig(config.databaseDirectUrl ?? databaseUrl(config), 'worker-jobs'),
    schema: JOBS_SCHEMA,
    max: 4,
    migrate: false,
    createSchema: false,
    openTelemetry: { enabled: false },
    ...WITHOUT_VITALS,
    // These intervals delay scheduled jobs after the start of their minute; what expires has to be recorded within one.
    cronMonitorIntervalSeconds: 15,
    cronWorkerIntervalSeconds: 3,
    // No job waits for another.
    flowIntervalSeconds: 86_400,
  });
  boss.on('error', (error) => logger.error({ error: forLog(error) }, 'job queue failed'));
  boss.on('warning', ({ message }) => logger.warn({ warning: message }, 'job queue warns'));
  try {
    await boss.start();
    await makeQueues(boss, JOBS);
    await updateQueues(boss, JOBS);
    const workers = new Map(
      await Promise.all(
        JOBS.map(
          async (job) => [job.queue, await serve(boss, job, core, logger, metrics)] as const,
        ),
      ),
    );
    void watchDueJobs(boss, workers, ending.signal);
  } catch (error) {
    await boss.stop({ graceful: false });
    throw error;
  }
  return boss;
}

async function serve(
  boss: PgBoss,
  { queue: name, schema, every, dailyAt, urgent, run }: RunnableJob,
  core: Core,
  logger: Logger,
  metrics: JobMetrics,
): Promise<string> {
  const at = dailyAt && core.config[dailyAt];
  // The database keeps a schedule until it is taken back.
  if (dailyAt && !at) await boss.unschedule(name, '0');
  const schedules = at ? [dailySchedule(at)] : every ? listSchedules(every) : [];
  for (const { cron, key, startAfter } of schedules)
    await boss.schedule(name, cron, {}, { key, startAfter });

  // Each job has a separate result, so that one failure does not fail the batch.
  async function runJob({ id, data: stored }: Job<unknown>): Promise<JobResult> {
    const { data, traceIds: trace_ids, causes } = fromStored(stored);
    const started = performance.now();
    const ended = (outcome: 'done' | 'failed') =>
      metrics.ended(name, outcome, (performance.now() - started) / 1000);
    try {
      const done = await inSpan(
        () => jobSpan(name, id, causes),
        () => asJob(async () => run(core, schema.parse(data), logger, ending.signal)),
      );
      const { alert } = (done ?? {}) as { alert?: string | null };
      if (alert) logger.warn({ job: name, alert }, 'job alerts');
      logger.debug({ job: name, id, trace_ids, done }, 'job done');
      ended('done');
      return { id, status: 'completed' };
    } catch (error) {
      logger.error({ job: name, id, trace_ids, error: forLog(error) }, 'job failed');
      ended('failed');
      return { id, status: 'failed', output: { error: failureOf(error) } };
    }
  }

  const workerId = await boss.work(name, WORK, (jobs) =>
    mapConcurrently(jobs, CONCURRENCY, runJob),
  );
  if (urgent) core.wakeUps.subscribe(jobsTopic(name), () => boss.notifyWorker(workerId), false);
  return workerId;
}

const jobSpan = (queue: string, id: string, causes: SpanContext[]): SpanDescription => ({
  name: `process ${queue}`,
  kind: SpanKind.CONSUMER,
  causes,
  attributes: {
    'messaging.system': 'pg-boss',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue,
    'messaging.message.id': id,
  },
});

/** Where in the code storage was unavailable says nothing, and every queue reports it. */
const forLog = (error: unknown) => toLoggable(error, { stack: !isUnavailableReport(error) });

/** What a dead letter says of its error: the database's words, which quote no value, or the class. */
function failureOf(error: unknown): string {
  const { code, message } = toLoggable(error);
  const { name } = error as Error;
  return error instanceof pg.DatabaseError ? `${String(code)} ${String(message)}` : name;
}

/** Jobs of a log that may lack writes would use up their retries. */
async function untilLogIsKnown({ logWatch }: Core): Promise<void> {
  while (logWatch.isLost()) {
    const stopped = await Promise.race([
      stopping.promise.then(() => true),
      sleep(LOG_POLL_MS, false),
    ]);
    if (stopped) return;
  }
}

const config = configOrExit();
const logger = createLogger(config.logLevel, 'worker');

// A second signal, as nodemon and terminals send it, has no effect. A signal
// during the start takes effect after the start.
const stopping = Promise.withResolvers<void>();
const ending = new AbortController();
void stopping.promise.then(() => ending.abort(new Error('The worker stops')));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.resolve());
onParentGone(() => stopping.resolve());

try {
  const core = await createCore(config, 'worker', logger, JOB_MS);
  const { pools, store, replicas, logWatch } = core;
  const registry = processMetrics(pools, store.waitsForStandby, replicas, logWatch.isLost);
  databaseMetrics(registry, core.pool, config);
  const metricsAt = { host: config.metricsHost, port: config.workerMetricsPort };
  const closeMetrics = await serveMetrics(registry, metricsAt, logger, {
    '/operate': operatePage({ ...core, process: 'worker' }, logger),
  });
  try {
    const metrics = jobMetrics(registry);
    await untilLogIsKnown(core);
    const boss = await startJobs(config, core, logger, metrics);
    logger.info('worker ready');
    await stopping.promise;
    await boss.stop({ timeout: DRAIN_MS });
  } finally {
    closeMetrics();
    await core.close();
  }
  logger.info('worker stopped');
} catch (error) {
  logger.fatal({ error: toLoggable(error) }, 'worker failed');
  process.exitCode = 1;
}
