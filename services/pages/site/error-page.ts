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

/** Stands for the id of the request in a page that is kept. */
const SOME_ID = randomUUID();

/** Pages for errors, for people whose browser asked for HTML. */
export function errorPages(config: Config): ErrorPage {
  const place = { baseUrl: config.baseUrl, site: siteInfo(config) };
  async function write(status: number, [title, text]: readonly [string, string], id: string) {
    const { render } = await builtPages();
    const view = { kind: 'error' as const, status, title, text, requestId: id };
    const head = { title, description: text, path: '/', hidden: true as const };
    return render({ head, view }, place);
  }
  // An overloaded process refuses thousands a minute, and each page is the same but for the id.
  const kept = new Map<number, string>();
  return async ({ status, message, requestId }) => {
    const texts = TEXTS[status];
    let page = kept.get(status);
    if (texts && !page) {
      page = await write(status, texts, SOME_ID);
      kept.set(status, page);
    }
    const html =
      page?.replaceAll(SOME_ID, requestId) ??
      (await write(status, ['That did not work', message], requestId));
    return { content: textContent('text/html', html), headers: PLAIN_PAGE };
  };
}
