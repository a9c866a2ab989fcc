import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { BuildOptions, BuildResult } from 'esbuild';
import { keptText } from '../../platform/http/page-headers.ts';
import type { Content } from '../../platform/http/route.ts';
import { html, ICON } from './html.ts';
import { PAGES, type PageName } from './pages.ts';
import { isLive } from './site/live.ts';
import type { Page, Place } from './site/view.ts';

const ROOT = join(import.meta.dirname, '..', '..');

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

/** Builds the pages from web/ in memory, once per process; takes tens of milliseconds. */
export function builtPages(): Promise<Built> {
  building ??= buildPages();
  return building;
}

async function buildPages(): Promise<Built> {
  const scripts = new Map<string, Content>();
  const styles = new Map<string, Content>();
  const pages: Partial<Record<PageName, Built['pages'][PageName]>> = {};
  const names = Object.keys(PAGES) as PageName[];
  const [forBrowsers, forServer] = await bundle(names);
  for (const name of names) {
    const script = keep(forBrowsers, scripts, `${name}.js`, 'text/javascript');
    const style = keep(forBrowsers, styles, `${name}.css`, 'text/css');
    const document = keptText('text/html', html(PAGES[name], script, style));
    pages[name] = { html: document, script, style };
  }
  const plain = { style: keep(forBrowsers, styles, 'site.css', 'text/css') };
  const live = {
    style: keep(forBrowsers, styles, 'guestbook.css', 'text/css'),
    script: keep(forBrowsers, scripts, 'guestbook.js', 'text/javascript'),
  };
  const { renderPage } = await load(forServer);
  return {
    scripts,
    styles,
    pages: pages as Built['pages'],
    render: (page, place) =>
      renderPage(page, { ...place, icon: ICON, ...(isLive(page.view) ? live : plain) }),
  };
}

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'silent',
  tsconfigRaw: '{}',
} as const satisfies BuildOptions;

type Bundle = BuildResult<{ write: false }>;

/** Bundles the scripts and styles for browsers, and the code that renders the site on the server. */
async function bundle(
  names: readonly PageName[],
): Promise<[forBrowsers: Bundle, forServer: Bundle]> {
  const entries = [
    ['site', 'web/site/site.css'],
    ['guestbook', 'web/guestbook/main.tsx'],
    ...names.map((name) => [name, PAGES[name].entry]),
  ];
  // Only web builds pages; every other process starts without esbuild.
  const { build, stop } = await import('esbuild');
  try {
    return await Promise.all([
      build({
        ...OPTIONS,
        entryPoints: Object.fromEntries(entries),
        outdir: 'assets',
        minify: true,
        target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
      }),
      build({
        ...OPTIONS,
        entryPoints: ['web/site/render.tsx'],
        outdir: 'server',
        platform: 'node',
      }),
    ]);
  } finally {
    // Ends the child process of esbuild, which is not needed again.
    await stop();
  }
}

/** Loads the bundle for the server, because Node.js reads no JSX. */
async function load({ outputFiles }: Bundle): Promise<Renderer> {
  const [module] = outputFiles;
  if (!module) throw new Error('The pages were built without their renderer');
  return import(`data:text/javascript;base64,${Buffer.from(module.contents).toString('base64')}`);
}

function keep(
  { outputFiles }: Bundle,
  assets: Map<string, Content>,
  name: string,
  type: string,
): string {
  const file = outputFiles.find(({ path }) => basename(path) === name);
  if (!file) throw new Error(`The pages were built without ${name}`);
  const digest = hash('sha256', file.contents, 'base64url').slice(0, 12);
  const hashed = name.replace('.', `-${digest}.`);
  assets.set(hashed, keptText(type, file.contents));
  return hashed;
}
