import { compressBody } from '../platform/http/compression.ts';
import { builtPages } from '../services/pages/build.ts';
import { PAGES, type PageName } from '../services/pages/pages.ts';
import type { Bench } from './environment.ts';

/** Upper targets by path, in gzipped bytes of script and style. */
const AIMS: Readonly<Record<string, number>> = { '/': 60_000, '/moderation': 200_000 };

/** Measures the size of each page. The targets are absolute, so there is no floor. */
export const pages: Bench = {
  name: 'pages',
  async prepare() {
    const { pages: built, scripts, styles } = await builtPages();
    for (const [name, { path }] of Object.entries(PAGES)) {
      const { script, style } = built[name as PageName];
      const files = [scripts.get(script), styles.get(style)];
      const bytes = { plain: 0, gzip: 0, br: 0 };
      for (const file of files) {
        if (!file) continue;
        bytes.plain += file.bytes.length;
        for (const encoding of ['gzip', 'br'] as const)
          bytes[encoding] += (await compressBody(file, encoding)).length;
      }
      const aim = AIMS[path];
      process.stdout.write(
        `script and style of ${path}: ${bytes.gzip} bytes gzipped, ${bytes.br} as brotli, ` +
          `${bytes.plain} plain` +
          (aim ? `; aim ${aim}: ${bytes.gzip < aim ? 'met' : 'missed'}\n` : '\n'),
      );
    }
    return [];
  },
};
