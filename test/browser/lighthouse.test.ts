import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import t, { type Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { findChromium } from '../../harness/programs.ts';
import { startService } from '../support/service.ts';
import { furnishSite } from '../support/site.ts';

/** The part of Lighthouse's result that the test reads. */
interface Result {
  categories: Record<string, { score: number | null; auditRefs: { id: string }[] }>;
  audits: Record<
    string,
    {
      title: string;
      score: number | null;
      numericValue?: number;
      details?: { items?: unknown[]; debugData?: { totalElements?: number } };
    }
  >;
}

type Lighthouse = (url: string, flags: object) => Promise<{ lhr: Result }>;

/** Not among the dependencies, because it is 175 MB; .ci/run installs it. */
const { LIGHTHOUSE } = process.env;
const CHROMIUM = findChromium();
const missing = !LIGHTHOUSE
  ? 'LIGHTHOUSE is not set to the path of core/index.js in the package lighthouse'
  : !CHROMIUM && 'no Chromium found';
if (missing) console.error(`SKIPPED: Lighthouse; ${missing}`);

/** These categories do not depend on the processor; the score for performance does. */
const ENFORCED = ['accessibility', 'best-practices', 'seo'];
const MIN_SCORE = 0.95;
/** The pages have none; Lighthouse calls up to 0.1 good. */
const MAX_LAYOUT_SHIFT = 0.01;
/** Lighthouse advises against more. */
const MAX_ELEMENTS = 1400;

async function startBrowser(t: Test): Promise<number> {
  const port = Number(await freePort());
  const browser = await chromium.launch({
    executablePath: CHROMIUM as string,
    args: ['--no-sandbox', '--disable-dev-shm-usage', `--remote-debugging-port=${port}`],
  });
  t.teardown(() => browser.close());
  return port;
}

const percent = (score: number | null | undefined) => Math.round((score ?? 0) * 100);

t.test('Lighthouse finds nothing to mend on the main pages', { skip: missing }, async (t) => {
  const { default: lighthouse }: { default: Lighthouse } = await import(
    pathToFileURL(`${LIGHTHOUSE}`).href
  );
  const service = await startService(t);
  const { note, caseId } = await furnishSite(service);
  const port = await startBrowser(t);
  const pages = [
    { path: '/', maxRequests: 3 },
    { path: `/notes/${note.id}`, maxRequests: 3 },
    { path: `/cases/${caseId}`, maxRequests: 2 },
    { path: '/docs', maxRequests: 2 },
    { path: '/transparency', maxRequests: 2 },
    { path: '/members', maxRequests: 2 },
  ];
  for (const { path, maxRequests } of pages) {
    const { lhr } = await lighthouse(service.baseUrl + path, {
      port,
      logLevel: 'error',
      onlyCategories: ['performance', ...ENFORCED],
      disableFullPageScreenshot: true,
    });
    const { categories, audits } = lhr;
    const scores = Object.entries(categories).map(
      ([name, { score }]) => `${name} ${percent(score)}`,
    );
    console.error(`Lighthouse on ${path}: ${scores.join(', ')}`);

    for (const name of ENFORCED) {
      const failed = categories[name]?.auditRefs
        .map(({ id }) => audits[id])
        .filter((audit) => audit?.score !== null && (audit?.score ?? 0) < 1)
        .map((audit) => audit?.title);
      t.ok((categories[name]?.score ?? 0) >= MIN_SCORE, `${path}, ${name}: ${failed?.join('; ')}`);
    }
    const shift = audits['cumulative-layout-shift']?.numericValue;
    t.ok(shift !== undefined && shift <= MAX_LAYOUT_SHIFT, `${path}: layout shift ${shift}`);
    const elements = audits['dom-size-insight']?.details?.debugData?.totalElements;
    t.ok(elements && elements <= MAX_ELEMENTS, `${path}: ${elements} elements`);
    const requests = audits['network-requests']?.details?.items?.length;
    t.ok(requests && requests <= maxRequests, `${path}: ${requests} requests`);
    const blocking = audits['render-blocking-insight']?.details?.items?.length ?? 0;
    t.ok(blocking <= 1, `${path}: ${blocking} files block rendering`);
  }
});
