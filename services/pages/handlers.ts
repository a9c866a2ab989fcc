import type { Config } from '../../platform/config.ts';
import { keptText, pageHeaders } from '../../platform/http/page-headers.ts';
import { type Content, type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { refuse } from '../../platform/refusal.ts';
import { sandboxLine } from '../sandbox-notice.ts';
import { html, ICON_SVG, PAGES, type PageName } from './browser-pages.ts';
import { builtPages } from './build.ts';
import { pagesContract } from './contract.ts';
import { siteContract } from './site/contract.ts';
import { type SiteDeps, siteHandlers } from './site/handlers.ts';

const HEADERS = pageHeaders({ 'require-trusted-types-for': "'script'", 'trusted-types': "'none'" });

const icon = keptText('image/svg+xml', ICON_SVG);

export function pagesHandlers({
  config,
}: {
  config: Pick<Config, 'sandbox' | 'sandboxEmptiedAt'>;
}): Handlers<typeof pagesContract> {
  const kept = new Map<PageName, Content>();

  async function document(name: PageName): Promise<Content> {
    const page = (await builtPages()).pages[name];
    if (!config.sandbox) return page.html;
    const content =
      kept.get(name) ??
      keptText('text/html', html(PAGES[name], page.script, page.style, sandboxLine(config)));
    kept.set(name, content);
    return content;
  }

  const page = (name: PageName) => async () => ({
    status: 200 as const,
    content: await document(name),
    headers: HEADERS,
  });

  const asset =
    (kind: 'scripts' | 'styles') =>
    async ({ params }: { params: { file: string } }) => {
      const content = (await builtPages())[kind].get(params.file);
      return content
        ? { status: 200 as const, content }
        : refuse('not_found', { message: 'Not found: no such file.' });
    };

  return {
    'pages.moderation': page('moderation'),
    'pages.moderation_view': page('moderation'),
    'pages.moderation_note': page('moderation'),
    'pages.moderation_record': page('moderation'),
    'pages.icon': async () => ({ status: 200, content: icon }),
    'pages.script': asset('scripts'),
    'pages.style': asset('styles'),
  };
}

export const routes = (deps: SiteDeps): readonly Routes[] => [
  implement(pagesContract, pagesHandlers(deps)),
  implement(siteContract, siteHandlers(deps)),
];
