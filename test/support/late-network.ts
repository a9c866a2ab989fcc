import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext } from 'playwright-core';

/** What must go at once: a stream has no end to wait for, and a page that closes does not wait. */
const AT_ONCE = /\/(stream|release)$/;

/**
 * What pages of a context ask for, and what they are answered, comes late by up to so many
 * milliseconds, at random: so it comes in other orders too.
 */
export async function makeLate(context: BrowserContext, mostMs: number): Promise<void> {
  let offline = false;
  const setOffline = context.setOffline.bind(context);
  context.setOffline = (next) => {
    offline = next;
    return setOffline(next);
  };
  const late = () => sleep(Math.random() * mostMs);
  await context.route('**/*', async (route) => {
    const request = route.request();
    if (request.resourceType() !== 'fetch' || AT_ONCE.test(new URL(request.url()).pathname))
      return route.fallback();
    await late();
    const response = offline ? undefined : await route.fetch().catch(() => undefined);
    await late();
    const answering =
      response && !offline
        ? route.fulfill({ response })
        : route.abort(offline ? 'internetdisconnected' : 'connectionfailed');
    // The page may have gone meanwhile.
    await answering.catch(() => undefined);
  });
}
