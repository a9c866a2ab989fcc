import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { type BuildResult, build, stop } from 'esbuild';
import { html } from './html.ts';
import { PAGES, type PageName } from './pages.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const squeeze = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** A file as it is sent, by content encoding. */
export interface Asset {
  identity: Uint8Array;
  br: Uint8Array;
  gzip: Uint8Array;
}

export interface Built {
  /** By file name, which holds a hash of the content. */
  scripts: ReadonlyMap<string, Asset>;
  styles: ReadonlyMap<string, Asset>;
  /** A page's document, and the file names that it asks for. */
  pages: Readonly<Record<PageName, { html: string; script: string; style: string }>>;
}

let building: Promise<Built> | undefined;

/** The pages, built in memory from web/ once in a process: tens of milliseconds. */
export function builtPages(): Promise<Built> {
  building ??= buildPages();
  return building;
}

async function buildPages(): Promise<Built> {
  const scripts = new Map<string, Asset>();
  const styles = new Map<string, Asset>();
  const pages: Partial<Record<PageName, Built['pages'][PageName]>> = {};
  const names = Object.keys(PAGES) as PageName[];
  const result = await bundle(names);
  for (const name of names) {
    const script = await keep(result, scripts, `${name}.js`);
    const style = await keep(result, styles, `${name}.css`);
    pages[name] = { html: html(PAGES[name], script, style), script, style };
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
    // Its process is not needed again.
    await stop();
  }
}

async function keep(
  { outputFiles }: BuildResult<{ write: false }>,
  assets: Map<string, Asset>,
  name: string,
): Promise<string> {
  const file = outputFiles.find(({ path }) => basename(path) === name);
  if (!file) throw new Error(`The pages were built without ${name}`);
  const identity = file.contents;
  const digest = hash('sha256', identity, 'base64url').slice(0, 12);
  const hashed = name.replace('.', `-${digest}.`);
  const [br, gzipped] = await Promise.all([squeeze.br(identity), squeeze.gzip(identity)]);
  assets.set(hashed, { identity, br, gzip: gzipped });
  return hashed;
}
