import { setTimeout as sleep } from 'node:timers/promises';
import { isSecure } from '../platform/base-url.ts';
import { configOrExit } from '../platform/config.ts';
import { createAdmission } from '../platform/http/admission.ts';
import { createDraining } from '../platform/http/draining.ts';
import { listen } from '../platform/http/listen.ts';
import { createHttpServer } from '../platform/http/server.ts';
import { onParentGone, tellParent } from '../platform/supervisor/child.ts';
import { createLogger, toLoggable } from '../platform/telemetry/logger.ts';
import { processMetrics, requestMetrics } from '../platform/telemetry/metrics.ts';
import { serveMetrics } from '../platform/telemetry/metrics-server.ts';
import { createApp } from './app.ts';
import { createCore } from './compose.ts';
import { databaseMetrics } from './database-metrics.ts';
import { seemsModerated } from './moderation/staff/sessions.ts';
import { operatePage } from './operate.ts';
import { builtPages } from './pages/build.ts';

/** Shortest interval between log warnings about dropped connections. */
const DROP_WARNING_MS = 60_000;

const config = configOrExit();
const logger = createLogger(config.logLevel, 'web');

// A release whose pages do not build must not start.
const [core] = await Promise.all([createCore(config, 'service web', logger), builtPages()]).catch(
  (error: unknown) => {
    logger.fatal({ error: toLoggable(error) }, 'web failed to start');
    process.exit(1);
  },
);
const registry = processMetrics(
  core.pools,
  core.store.waitsForStandby,
  core.replicas,
  core.logWatch.isLost,
);
databaseMetrics(registry, core.pool, config);
const { app, readiness, heldPlaces, stop } = await createApp(core, logger, {
  ...requestMetrics(registry),
  admission: createAdmission(config.databasePoolSize, logger, seemsModerated),
});
const metricsAt = { host: config.metricsHost, port: config.metricsPort };
const closeMetrics = await serveMetrics(registry, metricsAt, logger, {
  '/operate': operatePage({ ...core, process: 'web', held: heldPlaces }, logger),
});
const server = createHttpServer(app, isSecure(config.baseUrl));
const draining = createDraining(server);
const { host, port, maxConnections } = config;
const listeners = await listen(server, { host, port, maxConnections }).catch(
  (error: NodeJS.ErrnoException) => {
    const why =
      error.code === 'EADDRINUSE' ? `PORT ${port} is taken` : `Cannot listen on ${host}:${port}`;
    logger.fatal({ host, port, error: toLoggable(error) }, why);
    process.exit(1);
  },
);
let warnedAt = Number.NEGATIVE_INFINITY;
for (const listener of listeners)
  listener.on('drop', () => {
    if (performance.now() - warnedAt < DROP_WARNING_MS) return;
    warnedAt = performance.now();
    logger.warn({ maxConnections }, 'connections dropped');
  });
logger.info({ host, port }, 'listening');
logger.flush();
tellParent('listening');

let stopping = false;
const delayed = new AbortController();

/**
 * Says that the process is not ready, and after a delay stops accepting connections, answers the
 * requests in progress, and closes all resources. A second signal ends the delay.
 */
async function drain(): Promise<void> {
  if (stopping) {
    delayed.abort();
    return;
  }
  stopping = true;
  logger.info('draining');
  readiness.drain();
  if (config.drainDelaySeconds > 0) {
    draining.announce();
    const { signal } = delayed;
    await sleep(config.drainDelaySeconds * 1000, undefined, { signal }).catch(() => undefined);
  }
  const done = draining.close(listeners);
  stop();
  await done;
  closeMetrics();
  await core.close();
  logger.info('stopped');
}

const end = () => {
  drain().catch((error: unknown) => {
    logger.error({ error: toLoggable(error) }, 'drain failed');
    process.exitCode = 1;
  });
};
process.on('SIGTERM', end);
process.on('SIGINT', end);
onParentGone(end);
