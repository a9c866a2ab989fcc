import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext } from 'playwright-core';

/** Requests without delay: a stream never ends, and a closing page does not wait. */
const UNDELAYED = /\/(stream|release)$/;

/**
 * Delays each fetch of a context's pages and its response at random by up to `mostMs`
 * milliseconds, so that responses also arrive in other orders.
 */
export async function delayNetwork(context: BrowserContext, maxDelayMs: number): Promise<void> {
  let offline = false;
  const setOffline = context.setOffline.bind(context);
  context.setOffline = (next) => {
    offline = next;
    return setOffline(next);
  };
  const randomDelay = () => sleep(Math.random() * maxDelayMs);
  await context.route('**/*', async (route) => {
    const request = route.request();
    if (request.resourceType() !== 'fetch' || UNDELAYED.test(new URL(request.url()).pathname))
      return route.fallback();
    await randomDelay();
    const response = offline ? undefined : await route.fetch().catch(() => undefined);
    await randomDelay();
    const answering =
      response && !offline
        ? route.fulfill({ response })
        : route.abort(offline ? 'internetdisconnected' : 'connectionfailed');
    // The page may have closed meanwhile.
    await answering.catch(() => undefined);
  });
}
