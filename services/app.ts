import type { Logger } from 'pino';
import { isSecure } from '../platform/base-url.ts';
import type { HttpDeps } from '../platform/http/handle-request.ts';
import { mount } from '../platform/http/mount.ts';
import { rateLimits } from '../platform/limits/rate-limits.ts';
import { routeLimits } from '../platform/limits/route-limits.ts';
import { createWaitingPlaces } from '../platform/limits/waiting-places.ts';
import { watchReadiness } from '../platform/telemetry/readiness.ts';
import type { Core } from './compose.ts';
import { bearerAuthenticator } from './credentials/authenticate.ts';
import { createRoutes } from './features.ts';
import { sessionAuthenticator } from './membership/sessions.ts';
import { moderatorAuthenticator } from './moderation/staff/authenticate.ts';
import { MODERATOR_COOKIE } from './moderation/staff/sessions.ts';
import { errorPages } from './pages/site/error-page.ts';
import { createUpdatesWaiting } from './updates/waiting.ts';

/** Creates the API of one process: the routes of all capabilities, mounted on Express. */
export async function createApp(
  core: Core,
  logger: Logger,
  watch: Pick<HttpDeps, 'arrived' | 'answered' | 'admission'> = {},
) {
  const { config, keys, pool } = core;
  const readiness = watchReadiness(pool, core.logWatch);
  const waiting = createUpdatesWaiting(pool, core.wakeUps);
  const places = createWaitingPlaces({
    perHolder: config.limitWaitingPerCredential,
    total: config.limitWaiting,
  });
  const ending = new AbortController();
  const bearer = bearerAuthenticator(pool, keys);
  const counters = rateLimits(pool, keys);
  const { routes, operations } = await createRoutes({
    ...core,
    limits: routeLimits(counters, config),
    readiness,
    waiting,
    places,
    bearer,
    ending: ending.signal,
    logger,
  });
  const { app, router } = mount({
    operations,
    authenticators: {
      session: sessionAuthenticator(pool, keys),
      bearer,
      moderator: moderatorAuthenticator(pool, keys),
    },
    moderatorCookie: MODERATOR_COOKIE,
    logger,
    baseUrl: config.baseUrl,
    secure: isSecure(config.baseUrl),
    hidden: config.sandbox,
    trustedProxies: config.trustedProxies,
    errorPage: errorPages(config),
    hashAddress: (address) => counters.bucketOf(address),
    ...(core.replicas ? { replicaLagSeconds: config.replicaMaxLagSeconds } : {}),
    ...watch,
  });

  /** Ends all waiting requests; call this before the server closes. */
  function stop(): void {
    readiness.stop();
    waiting.close();
    ending.abort();
  }

  return { app, router, routes, operations, readiness, heldPlaces: places.held, stop };
}
