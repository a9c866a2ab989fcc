import { refuse } from '../eventstore/decider.ts';
import { pageHeaders, textContent } from '../http/page.ts';
import type { Handlers, RequestFacts } from '../http/route.ts';
import { type Asset, type Built, builtPages } from './build.ts';
import type { pagesContract } from './contract.ts';
import type { PageName } from './pages.ts';

const HEADERS = pageHeaders("require-trusted-types-for 'script'", "trusted-types 'none'");

export function pagesHandlers(): Handlers<typeof pagesContract> {
  const page = (name: PageName) => async () => {
    const { html } = (await builtPages()).pages[name];
    return { status: 200 as const, content: textContent('text/html', html), headers: HEADERS };
  };

  const asset =
    (kind: 'scripts' | 'styles', type: string) =>
    async ({ params, request }: { params: { file: string }; request: RequestFacts }) => {
      const found = ((await builtPages()) satisfies Built)[kind].get(params.file);
      if (!found) return refuse('not_found', { message: 'Not found: no such file.' });
      const { encoding, bytes } = encoded(found, request.acceptEncoding);
      return {
        status: 200 as const,
        content: { type, bytes },
        headers: {
          vary: 'accept-encoding',
          ...(encoding ? { 'content-encoding': encoding } : {}),
        },
      };
    };

  return {
    'pages.guestbook': page('guestbook'),
    'pages.moderation': page('moderation'),
    'pages.script': asset('scripts', 'text/javascript; charset=utf-8'),
    'pages.style': asset('styles', 'text/css; charset=utf-8'),
  };
}

/** The smallest form that the caller takes. */
function encoded(asset: Asset, accepted = ''): { encoding?: 'br' | 'gzip'; bytes: Uint8Array } {
  const taken = accepted.split(',').filter(isTaken).map(codingOf);
  for (const encoding of ['br', 'gzip'] as const)
    if (taken.includes(encoding)) return { encoding, bytes: asset[encoding] };
  return { bytes: asset.identity };
}

const codingOf = (entry: string) => entry.split(';')[0]?.trim().toLowerCase() ?? '';

/** `;q=0` is a refusal. */
const isTaken = (entry: string) => !/;\s*q=0(?:\.0{0,3})?\s*$/i.test(entry);
