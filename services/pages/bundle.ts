import { basename, join } from 'node:path';
import type { BuildOptions, BuildResult } from 'esbuild';
import { PAGES, type PageName } from './browser-pages.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

/** What esbuild makes of web/. */
export interface Bundle {
  /** Scripts and styles for browsers, by file name. */
  readonly browser: ReadonlyMap<string, Uint8Array>;
  /** The module that renders the site on the server. */
  readonly server: Uint8Array;
  /** The files on which the bundle depends, as paths below the project's folder. */
  readonly inputs: readonly string[];
}

/** Inputs besides the sources; the lock file represents every package, esbuild included. */
const OTHER_INPUTS = [
  'package-lock.json',
  'services/pages/bundle.ts',
  'services/pages/browser-pages.ts',
];

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  metafile: true,
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'silent',
  tsconfigRaw: '{}',
} as const satisfies BuildOptions;

type Result = BuildResult<{ write: false; metafile: true }>;

/** Bundles web/ in memory with esbuild; takes tens of milliseconds. */
export async function bundlePages(): Promise<Bundle> {
  const [forBrowsers, forServer] = await bundle(Object.keys(PAGES) as PageName[]);
  const [server] = forServer.outputFiles;
  if (!server) throw new Error('The pages were built without their renderer');
  const sources = [forBrowsers, forServer]
    .flatMap(({ metafile }) => Object.keys(metafile.inputs))
    .filter((path) => !path.includes('node_modules/'));
  return {
    browser: new Map(
      forBrowsers.outputFiles.map(({ path, contents }) => [basename(path), contents]),
    ),
    server: server.contents,
    inputs: [...new Set([...OTHER_INPUTS, ...sources])].sort(),
  };
}

async function bundle(names: readonly PageName[]): Promise<[Result, Result]> {
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
  } catch (error) {
    if (/package "@esbuild\/[\w-]+" could not be found/.test((error as Error).message))
      throw new Error(
        'The pages are not built, or changed since: run `npm run build` where every package is installed, and copy dist/ here',
        { cause: error },
      );
    throw error;
  } finally {
    // Ends the child process of esbuild, which is not needed again.
    await stop();
  }
}
