import { builtPages } from '../services/pages/build.ts';
import { PAGES, type PageName } from '../services/pages/pages.ts';
import type { Bench } from './setting.ts';

/** In bytes of script and style, as gzip sends them. */
const AIMS: Readonly<Record<string, number>> = { '/': 60_000, '/moderation': 200_000 };

/** What each page weighs. There is no floor to measure beside: the aims are bytes. */
export const pages: Bench = {
  name: 'pages',
  async prepare() {
    const { pages: built, scripts, styles } = await builtPages();
    for (const [name, { path }] of Object.entries(PAGES)) {
      const { script, style } = built[name as PageName];
      const files = [scripts.get(script), styles.get(style)];
      const bytes = (form: 'identity' | 'gzip' | 'br') =>
        files.reduce((sum, file) => sum + (file?.[form].length ?? 0), 0);
      const aim = AIMS[path];
      process.stdout.write(
        `script and style of ${path}: ${bytes('gzip')} bytes gzipped, ${bytes('br')} as brotli, ` +
          `${bytes('identity')} plain` +
          (aim ? `; aim ${aim}: ${bytes('gzip') < aim ? 'met' : 'missed'}\n` : '\n'),
      );
    }
    return [];
  },
};
