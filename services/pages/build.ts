import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import { type BuildResult, build, stop } from 'esbuild';
import { keptText } from '../../platform/http/page-headers.ts';
import type { Content } from '../../platform/http/route.ts';
import { html } from './html.ts';
import { PAGES, type PageName } from './pages.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export interface Built {
  /** Content by file name; the name contains a hash of the content. */
  scripts: ReadonlyMap<string, Content>;
  styles: ReadonlyMap<string, Content>;
  /** The document of each page, and the names of the script and the style that it loads. */
  pages: Readonly<Record<PageName, { html: Content; script: string; style: string }>>;
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
  const result = await bundle(names);
  for (const name of names) {
    const script = keep(result, scripts, `${name}.js`, 'text/javascript');
    const style = keep(result, styles, `${name}.css`, 'text/css');
    const document = keptText('text/html', html(PAGES[name], script, style));
    pages[name] = { html: document, script, style };
  }
  return { scripts, styles, pages: pages as Built['pages'] };
}

async function bundle(names: readonly PageName[]): Promise<BuildResult<{ write: false }>> {
  try {
    return await build({
      absWorkingDir: ROOT,
      entryPoints: Object.fromEntries(names.map((name) => [name, PAGES[name].entry])),
      outdir: 'assets',
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
      jsx: 'automatic',
      jsxImportSource: 'preact',
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      tsconfigRaw: '{}',
    });
  } finally {
    // Ends the child process of esbuild, which is not needed again.
    await stop();
  }
}

function keep(
  { outputFiles }: BuildResult<{ write: false }>,
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
