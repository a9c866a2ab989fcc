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

/** Pages for errors, for people whose browser asked for HTML. */
export function errorPages(config: Config): ErrorPage {
  const place = { baseUrl: config.baseUrl, site: siteInfo(config) };
  return async ({ status, message, requestId }) => {
    const [title, text] = TEXTS[status] ?? ['That did not work', message];
    const { render } = await builtPages();
    const view = { kind: 'error' as const, status, title, text, requestId };
    const head = { title, description: text, path: '/', hidden: true as const };
    return {
      content: textContent('text/html', render({ head, view }, place)),
      headers: PLAIN_PAGE,
    };
  };
}
