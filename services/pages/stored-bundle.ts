import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '../../platform/json.ts';
import { type Bundle, ROOT } from './bundle.ts';

/** Where `npm run build` keeps the pages, so that a production tree needs no esbuild. */
const FOLDER = join(ROOT, 'dist', 'pages');
const BROWSER = 'assets';
const SERVER = 'server.js';
const INPUTS = 'inputs.json';

/** Writes a bundle and the digests of its inputs to dist/pages. */
export async function storeBundle({ browser, server, inputs }: Bundle): Promise<void> {
  const folder = `${FOLDER}.new`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, BROWSER), { recursive: true });
  for (const [name, contents] of browser) await writeFile(join(folder, BROWSER, name), contents);
  await writeFile(join(folder, SERVER), server);
  const digests = await Promise.all(inputs.map(async (path) => [path, await digestOf(path)]));
  await writeFile(join(folder, INPUTS), `${JSON.stringify(Object.fromEntries(digests))}\n`);
  await rm(FOLDER, { recursive: true, force: true });
  await rename(folder, FOLDER);
}

/** Reads the bundle of dist/pages; undefined if nothing is stored, or if an input has changed since. */
export async function findStoredBundle(): Promise<Bundle | undefined> {
  const stored = await readFile(join(FOLDER, INPUTS), 'utf8').catch(() => undefined);
  if (stored === undefined) return undefined;
  const digests = parseJson(stored) as Record<string, string>;
  const inputs = Object.keys(digests);
  const same = await Promise.all(
    inputs.map(async (path) => (await digestOf(path).catch(() => '')) === digests[path]),
  );
  if (same.includes(false)) return undefined;
  const names = await readdir(join(FOLDER, BROWSER));
  const browser = await Promise.all(
    names.map(async (name) => [name, await readFile(join(FOLDER, BROWSER, name))] as const),
  );
  return { browser: new Map(browser), server: await readFile(join(FOLDER, SERVER)), inputs };
}

const digestOf = async (path: string) => hash('sha256', await readFile(join(ROOT, path)));
