import type { Page } from 'playwright-core';
import t from 'tap';
import {
  axeViolations,
  checkAppearance,
  NEEDS_BROWSER,
  saveScreenshot,
  untilEqual,
  untilTrue,
  visit,
} from '../support/browser.ts';
import { startService } from '../support/service.ts';

const PAGES = ['/docs', '/docs/cases', '/docs/schemas', '/docs/events', '/docs/errors'];
const NARROWEST = { width: 320, height: 640 };

const openAll = (page: Page) =>
  page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");

const sidewaysOverflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

t.test('the API reference is read without scripts, at any width', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  const operations = Object.values(paths).flatMap((item) => Object.keys(item as object));
  // The console of `visit` reports what the content security policy blocks.
  const { page } = await visit(t, `${service.baseUrl}/docs`, { javaScriptEnabled: false });
  t.equal(await page.locator('.operations li').count(), operations.length);

  await page.getByRole('link', { name: 'POST /api/v1/cases/{case_id}/claim' }).click();
  await page.waitForURL('**/docs/cases#operation-case.claim');
  const claim = page.locator('[id="operation-case.claim"]');
  await untilEqual(
    t,
    () => claim.locator('h2').evaluate((heading) => heading.getBoundingClientRect().top < 100),
    true,
  );
  t.notOk(await claim.getByText('state_conflict').isVisible(), 'errors are closed');
  await claim.getByText(/^Errors \(\d+\)$/).click();
  await claim.getByRole('link', { name: 'state_conflict' }).click();
  await page.waitForURL('**/docs/errors#error-state_conflict');
  await page.getByText('You cannot claim your own case.').waitFor();

  for (const path of PAGES) {
    await page.goto(service.baseUrl + path);
    await openAll(page);
    for (const viewport of [NARROWEST, { width: 700, height: 900 }, { width: 1000, height: 900 }]) {
      await page.setViewportSize(viewport);
      t.equal(await sidewaysOverflow(page), 0, `${path}, ${viewport.width}px wide`);
    }
  }
});

t.test(
  'an old link into the single page leads to a link to the new place',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const { page } = await visit(t, `${service.baseUrl}/docs#operation-case.claim`);
    const entry = page.locator('li:target a');
    const isInSight = async () => Number((await entry.boundingBox())?.y) < 100;
    await untilEqual(t, isInSight, true, 'the link is in sight');
    await entry.click();
    await page.waitForURL('**/docs/cases#operation-case.claim');
  },
);

t.test('the API reference is accessible in light and dark', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { page } = await visit(t, `${service.baseUrl}/docs`);
  for (const path of PAGES) {
    await page.goto(service.baseUrl + path);
    await checkAppearance(t, page, path.slice(1).replace('/', '-'));
    await openAll(page);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      t.strictSame(
        await axeViolations(page),
        [],
        `${path} with everything open, in ${colorScheme}`,
      );
    }
  }
  for (const anchor of ['cases#operation-case.claim', 'schemas#schema-UpdateEvent']) {
    await page.goto(`${service.baseUrl}/docs/${anchor}`);
    await saveScreenshot(page, `docs-${anchor.replace('#', '-')}`);
  }
});

t.test('the API reference is used with the keyboard alone', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { page } = await visit(t, `${service.baseUrl}/docs/discovery`);
  const focused = page.locator(':focus-visible');
  await page.keyboard.press('Tab');
  t.equal(await focused.textContent(), 'Skip to the content');
  t.ok(((await focused.boundingBox())?.height ?? 0) > 10, 'the link appears');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/discovery#content');
  await untilTrue(page, 'document.activeElement.innerText !== "Skip to the content"');
  await page.keyboard.press('Tab');
  t.equal(await focused.getAttribute('href'), '#operation-discovery.get');
  const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
  t.equal(outline, 'solid');
  await page.keyboard.press('Tab');
  t.match(await focused.textContent(), /^200 /);
  await page.keyboard.press('Enter');
  t.ok(await page.getByText('"schema": "service.discovery.v1"').isVisible());
});
