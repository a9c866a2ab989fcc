import { randomUUID } from 'node:crypto';
import type { Config } from '../../../platform/config.ts';
import type { ErrorPage } from '../../../platform/http/handle-request.ts';
import { textContent } from '../../../platform/http/page-headers.ts';
import { builtPages } from '../build.ts';
import { siteInfo } from './about.ts';
import { PLAIN_PAGE } from './handlers.ts';

/** What the pages say for an error, by status. */
const TEXTS: Readonly<Record<number, readonly [title: string, text: string]>> = {
  400: [
    'This address is not valid',
    'This link is incomplete or too old. Start from the newest notes.',
  ],
  404: ['Nothing is here', 'The address is mistyped, or what it named was never public.'],
  410: ['No longer here', 'What was here was withdrawn, removed or erased.'],
  429: ['Too many requests', 'Wait ten minutes, then try again.'],
  500: ['Something went wrong', 'The fault is ours. Try again in a moment.'],
  503: [
    'Not available at the moment',
    'Try again in a minute. Drafts that you saved on this device are kept.',
  ],
};

/** In a page that is kept, in place of the id of the request. */
const SOME_ID = randomUUID();

/** Pages for errors, for people whose browser asked for HTML. */
export function errorPages(config: Config): ErrorPage {
  const place = { baseUrl: config.baseUrl, site: siteInfo(config) };
  async function write(status: number, [title, text]: readonly [string, string]): Promise<string> {
    const { render } = await builtPages();
    const view = { kind: 'error' as const, status, title, text, requestId: SOME_ID };
    const head = { title, description: text, path: '/', hidden: true as const };
    return render({ head, view }, place);
  }
  // An overloaded process refuses thousands a minute, and each page is the same but for the id.
  const kept = new Map<number, string>();
  return async ({ status, message, requestId }) => {
    const texts = TEXTS[status];
    const page = kept.get(status) ?? (await write(status, texts ?? ['That did not work', message]));
    if (texts) kept.set(status, page);
    const html = page.replaceAll(SOME_ID, requestId);
    return { content: textContent('text/html', html), headers: PLAIN_PAGE };
  };
}
