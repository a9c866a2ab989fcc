import type { Logger } from 'pino';
import { isSecure } from '../platform/base-url.ts';
import type { Config } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { openEventStore } from '../platform/eventstore/event-store.ts';
import type { HttpParts } from '../platform/http/handle-request.ts';
import { operationsOf } from '../platform/http/invoke.ts';
import { mount } from '../platform/http/mount.ts';
import { jobSender } from '../platform/jobs/sender.ts';
import { requireSameKeys } from '../platform/keys/key-checks.ts';
import { keyRing } from '../platform/keys/key-ring.ts';
import { serverKeys } from '../platform/keys/server-keys.ts';
import { rateLimits } from '../platform/limits/rate-limits.ts';
import { openWaitingPlaces } from '../platform/limits/waiting-places.ts';
import { MODERATION, openWakeUps } from '../platform/postgres/notifications.ts';
import { openPool } from '../platform/postgres/pool.ts';
import { watchReadiness } from '../platform/telemetry/readiness.ts';
import { withGroupCommit } from '../platform/throughput/group-commit.ts';
import { catalogue, concerns, project } from '../projections/registry.ts';
import { bearerAuthenticator } from './credentials/authenticate.ts';
import { featuresOf } from './features.ts';
import { requireKeys } from './membership/key-usage.ts';
import { sessionAuthenticator } from './membership/sessions.ts';
import { isReview } from './moderation/decisions/review-events.ts';
import { moderatorAuthenticator } from './moderation/staff/authenticate.ts';
import { openWaiting } from './updates/waiting.ts';

export type Core = Awaited<ReturnType<typeof openCore>>;

/** Opens the storage that every process uses: pools, keys, jobs and the event store. */
export async function openCore(config: Config, application: string) {
  const url = databaseUrl(config);
  const keys = keyRing(serverKeys(config));
  const pool = openPool(url, application, config.databasePoolSize);
  const readPool = config.databaseReadUrl
    ? openPool(config.databaseReadUrl, application, config.databasePoolSize)
    : pool;
  const usable = requireKeys(pool, keys).then(() => requireSameKeys(pool, keys));
  await usable.catch(async (error: unknown) => {
    await pool.end();
    throw lacksTable(error)
      ? new Error('The database is not set up: npm run release does that', { cause: error })
      : error;
  });
  const jobs = await jobSender(config.databaseDirectUrl ?? url);
  const wakeUps = openWakeUps(config.databaseDirectUrl ?? url, application);
  const simple = openEventStore({
    pool,
    url,
    catalogue,
    project,
    concerns,
    enqueue: jobs.enqueue,
    committed: (events) =>
      wakeUps.wake([...events.flatMap(concerns), ...(events.some(isReview) ? [MODERATION] : [])]),
  });

  const store = config.groupCommit ? withGroupCommit(simple) : simple;

  async function close(): Promise<void> {
    await jobs.close();
    await wakeUps.close();
    await pool.end();
    if (readPool !== pool) await readPool.end();
  }

  const pools = { write: pool, ...(readPool === pool ? {} : { read: readPool }) };
  return { config, keys, pool, readPool, pools, store, wakeUps, close };
}

const lacksTable = (error: unknown) => (error as { code?: unknown }).code === '42P01';

/** Creates the API of one process: the routes of all capabilities, mounted on Express. */
export function openApp(
  core: Core,
  logger: Logger,
  watch: Pick<HttpParts, 'arrived' | 'answered'> = {},
) {
  const { config, keys, pool } = core;
  const readiness = watchReadiness(Object.values(core.pools));
  const waiting = openWaiting(pool, core.wakeUps);
  const places = openWaitingPlaces({
    perHolder: config.limitWaitingPerCredential,
    total: config.limitWaiting,
  });
  const ending = new AbortController();
  const bearer = bearerAuthenticator(pool, keys);
  const limits = rateLimits(pool, keys);
  const features = featuresOf({
    ...core,
    limits,
    readiness,
    waiting,
    places,
    bearer,
    ending: ending.signal,
    logger,
  });
  const { app, router } = mount({
    operations: operationsOf(features),
    authenticators: {
      session: sessionAuthenticator(pool, keys),
      bearer,
      moderator: moderatorAuthenticator(pool, keys),
    },
    logger,
    baseUrl: config.baseUrl,
    secure: isSecure(config.baseUrl),
    trustedProxies: config.trustedProxies,
    apiOpen: config.apiOpen,
    ...watch,
  });

  /** Ends all waiting requests; call this before the server closes. */
  function stop(): void {
    readiness.stop();
    waiting.close();
    ending.abort();
  }

  return { app, router, features, stop };
}
