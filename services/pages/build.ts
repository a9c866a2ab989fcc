import { hash } from 'node:crypto';
import { keptText } from '../../platform/http/page-headers.ts';
import type { Content } from '../../platform/http/route.ts';
import { html, ICON, PAGES, type PageName } from './browser-pages.ts';
import { type Bundle, bundlePages } from './bundle.ts';
import { isLive } from './live.ts';
import { findStoredBundle } from './stored-bundle.ts';
import type { Page, Place } from './view.ts';

export interface Built {
  /** Content by file name; the name contains a hash of the content. */
  scripts: ReadonlyMap<string, Content>;
  styles: ReadonlyMap<string, Content>;
  /** The document of each page, and the names of the script and the style that it loads. */
  pages: Readonly<Record<PageName, { html: Content; script: string; style: string }>>;
  /** Renders a page of the site to an HTML document. */
  render: (page: Page, place: Pick<Place, 'baseUrl' | 'site'>) => string;
}

/** What web/site/render.tsx exports. */
interface Renderer {
  renderPage: (page: Page, place: Place) => string;
}

let building: Promise<Built> | undefined;

/** The pages, once per process: as `npm run build` stored them, or else built from web/ in memory. */
export function builtPages(): Promise<Built> {
  building ??= buildPages();
  return building;
}

async function buildPages(): Promise<Built> {
  const scripts = new Map<string, Content>();
  const styles = new Map<string, Content>();
  const pages: Partial<Record<PageName, Built['pages'][PageName]>> = {};
  const names = Object.keys(PAGES) as PageName[];
  const { browser, server } = (await findStoredBundle()) ?? (await bundlePages());
  for (const name of names) {
    const script = keep(browser, scripts, `${name}.js`, 'text/javascript');
    const style = keep(browser, styles, `${name}.css`, 'text/css');
    const document = keptText('text/html', html(PAGES[name], script, style));
    pages[name] = { html: document, script, style };
  }
  const plain = { style: keep(browser, styles, 'site.css', 'text/css') };
  const live = {
    style: keep(browser, styles, 'guestbook.css', 'text/css'),
    script: keep(browser, scripts, 'guestbook.js', 'text/javascript'),
  };
  const { renderPage } = await load(server);
  return {
    scripts,
    styles,
    pages: pages as Built['pages'],
    render: (page, place) =>
      renderPage(page, { ...place, icon: ICON, ...(isLive(page.view) ? live : plain) }),
  };
}

/** Loads the bundle for the server, because Node.js reads no JSX. */
async function load(module: Uint8Array): Promise<Renderer> {
  return import(`data:text/javascript;base64,${Buffer.from(module).toString('base64')}`);
}

function keep(
  files: Bundle['browser'],
  assets: Map<string, Content>,
  name: string,
  type: string,
): string {
  const contents = files.get(name);
  if (!contents) throw new Error(`The pages were built without ${name}`);
  const digest = hash('sha256', contents, 'base64url').slice(0, 12);
  const hashed = name.replace('.', `-${digest}.`);
  assets.set(hashed, { ...keptText(type, contents), served: 'built' });
  return hashed;
}
