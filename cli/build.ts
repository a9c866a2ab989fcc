import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { bundlePages } from '../services/pages/bundle.ts';
import { storeBundle } from '../services/pages/stored-bundle.ts';

processArguments(`Usage:
  npm run build

Bundles the pages once and writes them to dist/, so that web processes start without esbuild, as in
an installation with --omit=optional. A changed file of web/ makes dist/ void.
`);

try {
  const bundle = await bundlePages();
  await storeBundle(bundle);
  process.stdout.write(`Built ${bundle.browser.size} files from ${bundle.inputs.length}\n`);
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
