import { compressBody } from '../platform/http/compression.ts';
import type { Content } from '../platform/http/route.ts';
import { builtPages } from '../services/pages/build.ts';
import type { Bench } from './environment.ts';

/** The files of each kind of page, and the upper target for them in gzipped bytes. */
const PAGES: readonly [page: string, bundle: string, aim: number][] = [
  ['/ and /notes', 'guestbook', 60_000],
  ['the rest of the site', 'site', 6000],
  ['/moderation', 'moderation', 200_000],
];

/** Measures the size of each page. The targets are absolute, so there is no floor. */
export const pages: Bench = {
  name: 'pages',
  async prepare() {
    const { scripts, styles } = await builtPages();
    const named = (files: ReadonlyMap<string, Content>, bundle: string) =>
      [...files].flatMap(([name, content]) => (name.startsWith(`${bundle}-`) ? [content] : []));
    for (const [page, bundle, aim] of PAGES) {
      const bytes = { plain: 0, gzip: 0, br: 0 };
      for (const file of [...named(scripts, bundle), ...named(styles, bundle)]) {
        bytes.plain += file.bytes.length;
        for (const encoding of ['gzip', 'br'] as const)
          bytes[encoding] += (await compressBody(file, encoding)).length;
      }
      process.stdout.write(
        `script and style of ${page}: ${bytes.gzip} bytes gzipped, ${bytes.br} as brotli, ` +
          `${bytes.plain} plain; aim ${aim}: ${bytes.gzip < aim ? 'met' : 'missed'}\n`,
      );
    }
    return [];
  },
};
